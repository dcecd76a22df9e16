"""What a version of a function is: the kinds of its arguments, the facts that were folded in, the guards on both."""
