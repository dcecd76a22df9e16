"""Programs that try s2s hard, each a script with a summary line: ``python -m tests.stress.NAME``."""
