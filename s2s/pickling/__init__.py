"""Functions as pickle takes them: by name and by source, for processes that do not have the files."""
