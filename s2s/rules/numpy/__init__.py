"""Rules of NumPy's functions, by domain."""
