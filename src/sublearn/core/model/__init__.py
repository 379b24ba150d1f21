"""Fitted models: `fitted` has the record that an estimator holds, `flat_tree` and `flat_ensemble` the arrays inside."""
