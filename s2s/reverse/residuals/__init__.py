"""Residuals: what the reverse sweep needs of the forward sweep is kept, recomputed, undone or replayed."""
