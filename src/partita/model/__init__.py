"""What a model is made of and answers: likelihood, prior and rows; densities, profiles, reasons."""
