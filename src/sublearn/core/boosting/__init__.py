"""Gradient boosting of trees (paper Sec. III-B): losses, derivatives, rounds, and what 'auto' stands for."""
