"""Data as the algorithm takes it: integer codes, weights and targets."""
