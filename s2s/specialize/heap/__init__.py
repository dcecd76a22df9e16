"""The virtual heap: containers, objects and iterators, as they are known before the program runs."""
