"""Steps (``floor``, ``round``, casts to integer): what they mean where they stand, by affine forms."""
