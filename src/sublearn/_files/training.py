"""What a model keeps of its training, beside trees: so that `warm_start` goes on with it, and for users to read."""

from typing import Any

import numpy as np

from sublearn._files.errors import Fault
from sublearn._files.fields import Fields, shown
from sublearn._files.layout import is_boosting, is_forest
from sublearn._files.reading import ModelFile
from sublearn._files.values import UnwritableError, from_json, to_json
from sublearn.core.boosting.auto import AUDITIONED, Setting
from sublearn.core.boosting.choosing import Member
from sublearn.core.boosting.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LogLoss,
    Loss,
    OneClass,
    Poisson,
    Quantile,
    Softmax,
    SquaredError,
    link_of,
)
from sublearn.core.model.fitted import FittedModel
from sublearn.kernels.layout import Array

LOSSES: dict[str, type[Loss]] = {
    "log_loss": LogLoss,
    "softmax": Softmax,
    "one_class": OneClass,
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "quantile": Quantile,
    "huber": Huber,
    "poisson": Poisson,
    "gamma": Gamma,
}
OOB = ("oob_prediction", "oob_decision_function")
SCORES = ("train_score", "validation_score")
AUDITION: dict[str, Any] = {
    "name": str,
    "settings": dict,
    "scores": list,
    "seconds": (int, float),
    "n_chosen": int,
}  # of an entry
FARTHEST = 1e308


def training_of(estimator: Any, name: str) -> dict[str, Any] | None:
    """What is kept of the training, apart from arrays."""
    if not (is_forest(name) or is_boosting(name)):
        return None
    kept: dict[str, Any] = {"key": str(estimator._drawn_from), "settings": _object(estimator._settings)}
    if is_forest(name):
        return kept | {"oob_score": to_json(estimator.oob_score_)} if hasattr(estimator, "oob_score_") else kept
    return kept | {
        "loss": _loss_to_json(estimator._loss, name),
        "has_excess": estimator._has_excess,
        "learning_rate": float(estimator.learning_rate_),
        "members": [_member_to_json(member) for member in estimator._members],
        "found": _object(estimator.settings_),
        "audition": [_object(entry) for entry in estimator.audition_],
    }


def training_tensors(estimator: Any, prefix: str) -> dict[str, Array]:
    """The arrays that are kept of the training."""
    kept = [name for name in (*OOB, *SCORES) if f"{name}_" in vars(estimator)]
    return {prefix + name: getattr(estimator, f"{name}_") for name in kept}


def read_training(file: ModelFile, fields: Fields, prefix: str, estimator: Any, model: FittedModel) -> dict[str, Any]:
    """Attributes of the estimator, which is not fitted yet, by what is kept of its training."""
    name = type(estimator).__name__
    if not (is_forest(name) or is_boosting(name)):
        return {}
    given = fields.fields("training")
    found = {"_drawn_from": _key_from(given.text("key")), "_settings": _settings_from(given, estimator)}
    if is_forest(name):
        return found | _read_oob(file, given, prefix, model)
    return found | _read_boosting(file, given, prefix, estimator, model)


def _key_from(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) < 1 << 64):
        raise Fault(f"'key' must be a whole number of 64 bits; it is {shown(text)}")
    return int(text)


def _settings_from(given: Fields, estimator: Any) -> dict[str, Any]:
    """Parameters of the fit that must stay."""
    settings = {name: from_json(value, name) for name, value in given.object("settings").items()}
    wanted = estimator._settings_now().keys()
    if not settings.keys() >= wanted:
        raise Fault(f"'settings' must have {', '.join(sorted(wanted))}")
    return {name: settings[name] for name in wanted}


def _read_oob(file: ModelFile, given: Fields, prefix: str, model: FittedModel) -> dict[str, Any]:
    """Out-of-bag predictions of a forest, where it has some."""
    found: dict[str, Any] = {f"{name}_": file.take(prefix + name, name) for name in OOB if file.has(prefix + name)}
    if given.has("oob_score"):
        score = from_json(given.raw("oob_score"), "'oob_score'")
        if type(score) not in (int, float):
            raise Fault(f"'oob_score' must be a number; it is {shown(given.raw('oob_score'))}")
        found["oob_score_"] = float(score)
    wrong = OOB[0] if model.classes is not None else OOB[1]
    shares = found.get("oob_decision_function_")
    if f"{wrong}_" in found or (shares is not None and shares.shape[1] != len(model.classes)):  # type: ignore[arg-type]
        raise Fault("out-of-bag predictions do not go with the model")
    return found


def _read_boosting(file: ModelFile, given: Fields, prefix: str, estimator: Any, model: FittedModel) -> dict[str, Any]:
    """What boosting keeps."""
    loss = _loss_from(given.fields("loss"))
    n_classes = 0 if model.classes is None else len(model.classes)
    if link_of(loss, n_classes) != model.link or getattr(loss, "n_classes", n_classes) != n_classes:
        raise Fault(f"the loss {type(loss).__name__} does not go with the link {model.link!r}")
    members = [_member_from(member) for member in given.each("members")]
    if not members:
        raise Fault("'members' must have at least one entry")
    scores = {f"{name}_": file.take(prefix + name, name) for name in SCORES}
    n = model.n_rounds + 1
    if len(scores["train_score_"]) < n or 0 < len(scores["validation_score_"]) < n:
        raise Fault(f"'train_score' and 'validation_score' must have {n} entries or more, or none to validate")
    return {
        "_loss": loss,
        "_has_excess": given.flag("has_excess"),
        "learning_rate_": given.number("learning_rate", 0.0, FARTHEST),
        "_members": members,
        "settings_": _found_from(given, len(members)),
        "audition_": [_entry_from(entry) for entry in given.list("audition")],
        **scores,
    }


def _found_from(given: Fields, n_members: int) -> dict[str, Any]:
    """What parameters were in the fit; releases without `n_models` averaged as well, and did not say so."""
    found = {name: from_json(value, name) for name, value in given.object("found").items()}
    return found if "n_models" in found else found | {"n_models": n_members}


def _object(given: dict[str, Any]) -> dict[str, Any]:
    """A dict whose keys are texts, as an object of JSON."""
    return {str(name): to_json(value) for name, value in given.items()}


def _entry_from(given: Any) -> dict[str, Any]:
    """One of the settings that were tried."""
    if not isinstance(given, dict):
        raise Fault(f"'audition' must have objects; it has {shown(given)}")
    entry = {name: from_json(value, f"{name!r} of 'audition'") for name, value in given.items()}
    if any(not isinstance(entry.get(name), kind) for name, kind in AUDITION.items()):
        raise Fault(f"an entry of 'audition' must have {', '.join(AUDITION)}")
    return {name: entry[name] for name in AUDITION}


def _loss_to_json(loss: Loss, owner: str) -> dict[str, Any]:
    names = {kind: name for name, kind in LOSSES.items()}
    if type(loss) not in names:
        raise UnwritableError(
            f"{owner} has learned with a loss of your own, {loss!r}: a file holds no programs. Pickle the model, or "
            "use one of the losses that have a name"
        )
    return {"name": names[type(loss)]} | {name: to_json(vars(loss)[name]) for name in sorted(vars(loss))}


def _loss_from(given: Fields) -> Loss:
    """The loss with what it has seen."""
    kind = LOSSES[given.one_of("name", tuple(LOSSES))]
    if kind is Softmax:
        return Softmax(given.whole("n_classes", 1, 1 << 31))
    if kind is Quantile:
        return Quantile(given.number("parameter", 0.0, 1.0))
    if kind is Huber:
        loss = Huber(given.number("share", 0.0, 1.0))
        loss.parameter = given.number("parameter", 0.0, FARTHEST)
        loss.yardstick = given.number("yardstick", 0.0, FARTHEST)
        return loss
    return kind()


def _member_to_json(member: Member) -> dict[str, Any]:
    setting = member.setting
    return {
        "name": setting.name,
        "changes": _object(setting.changes),
        "late": float(setting.late),
        "lead": float(setting.lead),
        "rate": float(member.rate),
    }


def _member_from(given: Fields) -> Member:
    changes = {name: from_json(value, name) for name, value in given.object("changes").items()}
    for name, value in changes.items():
        if name not in AUDITIONED or not _is_allowed(name, value):
            raise Fault(f"'changes' must have values of {', '.join(AUDITIONED)}; it has {shown(value)} for {name!r}")
    return Member(
        Setting(given.text("name"), changes, given.number("late"), given.number("lead")),
        given.number("rate", 0.0, FARTHEST),
    )


def _is_allowed(name: str, value: Any) -> bool:
    """Whether a setting may have such a value."""
    if name == "leaf":
        return value in ("constant", "linear")
    if name == "max_depth" and value is None:
        return True
    if type(value) not in (int, float) or not np.isfinite(value):
        return False
    return bool({"max_depth": value >= 1 and type(value) is int, "subsample": 0 < value <= 1}.get(name, value >= 0))
