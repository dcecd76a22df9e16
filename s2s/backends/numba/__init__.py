"""The Numba backend: a generated function in, the same function compiled to machine code out."""
