"""Small functions, where what a call costs by itself counts."""
