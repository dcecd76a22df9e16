"""From a function to the named form of the IR: its source is found, parsed and lowered."""
