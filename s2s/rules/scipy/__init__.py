"""Rules of SciPy's functions, by domain."""
