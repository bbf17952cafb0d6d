"""Each family's own promises: conventions, defaults, refusals, missing cells."""
