"""The explorer page: a function at the left, its adjoint at the right, in one HTML file."""
