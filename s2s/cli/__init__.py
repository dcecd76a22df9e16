"""The command line: ``s2s dump`` prints generated code, ``s2s cache`` lists or clears the cache."""
