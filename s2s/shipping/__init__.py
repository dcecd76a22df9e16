"""Generated code as modules of their own: with the names of the user's module imported, or with all that it reads."""
