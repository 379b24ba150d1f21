"""What the estimators share: checks, parameters, the one way in for data, and the base classes."""
