"""Each paper's tables and each peer, side by side, one command each."""
