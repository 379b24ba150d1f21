"""The algorithm, step by step: arrays in, arrays out."""
