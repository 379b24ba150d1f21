"""One fit or prediction: it goes well, or it is refused in words that help; anything else is a failure."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sklearn

import sublearn
from fuzz.cases import BrokenError, shown

ESTIMATORS = (
    sublearn.SLMClassifier,
    sublearn.SLMRegressor,
    sublearn.SLMForestClassifier,
    sublearn.SLMForestRegressor,
    sublearn.SLMBoostClassifier,
    sublearn.SLMBoostRegressor,
)
OURS, THEIRS = (str(Path(str(module.__file__)).parent) for module in (sublearn, sklearn))
CHECK_OF_INPUT = str(Path(THEIRS) / "utils" / "validation.py")


def is_classifier(estimator: Any) -> bool:
    """Of a class or an object."""
    return hasattr(estimator, "predict_proba")


def small(estimator: Any, **parameters: Any) -> Any:
    """An estimator that fits fast."""
    few = {"n_estimators": 3} if hasattr(estimator(), "n_estimators") else {}
    rate = {"learning_rate": 0.3} if "learning_rate" in estimator._get_param_names() else {}
    return estimator(**{**few, **rate, "random_state": 0, **parameters})


def refusal(call: Callable[[], Any]) -> Exception | None:
    """The error with which a call is refused; None where it goes well."""
    try:
        call()
    except BrokenError:
        raise
    except (ValueError, TypeError) as error:
        check_readable(error)
        return error
    except Exception as error:
        raise BrokenError(told(error)) from error
    return None


def fit_refusal(model: Any, X: Any, y: Any, **more: Any) -> Exception | None:
    """The error with which a fit is refused, which must have left the estimator as it was."""
    before = dict(vars(model))
    error = refusal(lambda: model.fit(X, y, **more))
    if error is not None:
        check_unchanged(model, before)
    return error


def check_unchanged(model: Any, before: dict[str, Any]) -> None:
    """Raise BrokenError if an attribute is another one now."""
    after = vars(model)
    if after.keys() != before.keys() or any(after[name] is not before[name] for name in before):
        raise BrokenError("a failed fit has changed the estimator")


def told(error: BaseException) -> str:
    """An error in a line, with the place where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{'/'.join(Path(frame.filename).parts[-2:])}:{frame.lineno}"
    return f"{type(error).__name__} from {where}: {shown(str(error))}"


def check_readable(error: Exception) -> None:
    """Raise BrokenError unless a check of ours or scikit-learn's raised it, or input could not be made an array."""
    frames = traceback.extract_tb(error.__traceback__)
    on_purpose = (frames[-1].line or "").startswith("raise") and frames[-1].filename.startswith((OURS, THEIRS))
    if not (on_purpose or any(frame.filename == CHECK_OF_INPUT for frame in frames)):
        raise BrokenError(f"not raised by a check: {told(error)}") from error


def bits(model: Any, X: Any) -> list[Any]:
    """All that a model predicts."""
    found = [model.predict(X).tolist(), model.apply(X).tobytes()]
    return [*found, model.predict_proba(X).tobytes()] if is_classifier(model) else found
