"""What a program says to s2s about its own derivatives: policies at steps, rules, checkpoints, maps over samples."""
