"""Reverse mode: a specialised primal in, the joint function of its forward and reverse sweep out."""
