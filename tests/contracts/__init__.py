"""What every registered family must satisfy, and a toy family that shows what one must bring."""
