"""How work runs: its clock, what Ctrl-C does."""
