"""The command line: ``docs/command_line.md`` has its commands."""
