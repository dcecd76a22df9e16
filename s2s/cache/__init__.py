"""What is kept on disk: compiled versions as readable source, and the lowered bodies of rules."""
