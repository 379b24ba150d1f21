"""`sublearn bench`: speed, growth and memory beside the usual libraries, in one run on the same data.

`order` says what is asked for; `loss`, `fits`, `predict`, `growth`, `threads` and `startup` measure a part each;
`goals` judges, `tables` and `picture` show, and `run` does all of it. `check` is the short form that guards against
regressions.
"""
