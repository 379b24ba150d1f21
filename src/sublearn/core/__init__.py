"""The algorithm: arrays in, arrays out, and nothing of scikit-learn.

`data` makes integers of values, `tree` has the paper's Section II, `boosting` its Section III-B, and `model` is what a
fit leaves behind. Imports point that way: boosting knows of trees, trees know of data and models.
"""
