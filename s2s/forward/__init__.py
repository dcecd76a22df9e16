"""Forward mode: a specialised primal in, the same function with tangents out."""
