"""Files that partita writes: what each kind holds, and how it is written and read."""
