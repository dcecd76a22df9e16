"""Partial evaluation: a function in SSA form and what is known of its arguments in, the same function for these out."""
