"""Calls of a derivative in, calls of the right compiled version out."""
