"""Fitted models as flat arrays: all that prediction, export and files read."""
