"""Numerical kernels as scientists write them, with stores in loops, and losses to differentiate."""
