"""Abstract values: what is known of a variable before the program runs, and how a call's value follows from it."""
