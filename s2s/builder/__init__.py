"""What all passes write code with: the context of a compilation, a builder that evaluates and folds, cotangents."""
