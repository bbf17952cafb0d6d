"""What several families share: moments, sharing rows out, densities, divergences, learned numbers."""
