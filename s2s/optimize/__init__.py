"""Simplifications of SSA code, one file each, and the tools that they are written with."""
