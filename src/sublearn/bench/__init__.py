"""`sublearn bench`: speed, growth and memory beside the usual libraries, in one run on the same data.

`order` says what is asked for; `loss`, `fits`, `predict`, `growth`, `threads` and `startup` measure a part each;
`tables` and `picture` show, and `run` does all of it. `goals` judges by what this project aims at, and `check` is the
short form that guards against regressions: both are for those who work on sublearn.
"""
