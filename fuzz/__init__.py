"""Throws what nobody would write, and what somebody will, at the six estimators, and checks what is promised.

`make fuzz MINUTES=10` or `python -m fuzz`. A case depends on nothing but seed, kind and number, so that each can be run
again by itself. The kinds:

- parameters: values for every parameter of every signature, allowed or not. Either the fit goes well, or a ValueError
  or TypeError names the parameter and the estimator; what the table of parameters forbids is never fitted.
- tables: X and y of all types, shapes and sizes, extremes and nonsense included. Either the fit goes well, or a
  ValueError or TypeError was raised on purpose, by a check and not by something deep inside that broke.
- weights: the same for sample weights and class weights. Rows of weight 0 change nothing.
- interrupts: Ctrl-C at any moment of first and later fits and predictions, in plain and forked processes, with and
  without compiled kernels at hand. It ends them within a second, with KeyboardInterrupt, and the next fit gives the
  usual model. The table has the slowest; a failure is one beyond four seconds, since a machine may have much to do.
- files: models as files, with bits, pieces, arrays and fields that are other ones. `load` refuses them with a
  ModelFileError, or gives a model that predicts and is pickled; neither takes more than 100 MB beyond the file.
  `python -m fuzz --only files --cases 100000 --minutes 600`

After every fit that goes well: predictions are finite and of the right shape, probabilities add up to 1; another fit,
two threads, and a pickle give the same bits; weight 2 is the row twice and weight 0 its absence, where nothing is drawn
among rows; training rows reach the leaves that counted them. A fit that fails leaves the estimator as it was. Nothing
warns from deep inside. A fit that is still going after some seconds is stopped and counted, but is no failure.
"""
