"""The kinds of cases there are, and how one of them is run."""

import io
import traceback
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout

from fuzz import files, interrupts, parameters, tables, weights
from fuzz.cases import FAILED, UNFINISHED, BrokenError, EnoughError, Outcome, rng_of, stopped_in_time
from fuzz.fits import told

KINDS: dict[str, types.ModuleType] = {
    "parameters": parameters,
    "tables": tables,
    "weights": weights,
    "interrupts": interrupts,
    "files": files,
}


def run_case(kind: str, seed: int, number: int) -> Outcome:
    """Draw a case and run it."""
    case = KINDS[kind].draw(rng_of(kind, seed, number))
    try:
        with _strict(), nullcontext() if kind == "interrupts" else stopped_in_time():  # which has its own patience
            outcome: Outcome = case.run()
    except EnoughError:
        return Outcome(UNFINISHED)
    except BrokenError as error:
        return Outcome(FAILED, f"{error}\n  {case.text}")
    except Exception as error:
        return Outcome(FAILED, f"{told(error)}\n  {case.text}\n{traceback.format_exc()}")
    return outcome._replace(text=f"{outcome.text}\n  {case.text}")


@contextmanager
def _strict() -> Iterator[None]:
    """Warnings of arithmetic gone wrong, on which nobody can act, are errors; what is printed is lost."""
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", "invalid value encountered in reduce")  # scikit-learn's search for NaN
        yield
