"""Translation validation: every stage of the compiler is checked against the one before it."""
