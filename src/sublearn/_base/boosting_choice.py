"""What boosting decides before and by trials: how many models, which settings, learning rates, and rounds."""

from typing import Any

import numpy as np

from sublearn._base.ensemble import SLMEnsemble
from sublearn._base.parameters import PARAMETERS, either, one_of, rule_of
from sublearn.core.boosting.audition import GrowthFor
from sublearn.core.boosting.auto import (
    AUDITIONED,
    AVERAGED,
    CONSTANT,
    FEW_OUTPUTS,
    Setting,
    chances,
    fast_for,
    scale_of,
    settings_for,
)
from sublearn.core.boosting.choosing import Choice, Member, Wish, choose
from sublearn.core.boosting.losses import Loss, has_own_leaves
from sublearn.core.boosting.parameters import BoostParameters
from sublearn.core.boosting.problem import Problem
from sublearn.core.parallel import Workers
from sublearn.core.tree.parameters import TreeParameters

FIXED = {"criterion": "second_order", "min_loss": -np.inf, "min_weight_fraction_leaf": 0.0}


class SLMBoostChoice(SLMEnsemble):
    """The part of both boosting estimators that decides what a fit does; `SLMBoost` does it."""

    _rules = {  # noqa: RUF012
        name: either(one_of("auto"), PARAMETERS[name].rule) for name in ("n_estimators", "learning_rate", *AUDITIONED)
    }
    _usual_l2 = 1.0
    _heaviest = 1e50

    @property
    def _is_separate(self) -> bool:
        """Whether each class has trees of its own, where there are more than two."""
        return getattr(self, "multiclass", None) == "separate"

    def _n_members(self, n_samples: int, n_outputs: int) -> int:
        """Models whose answers are averaged."""
        if not _is_auto(self.n_models):
            return int(self.n_models)
        if self.effort == "best":
            return AVERAGED
        is_ours = self.effort == "usual" and _is_auto(self.learning_rate) and n_outputs <= FEW_OUTPUTS
        return scale_of(n_samples).n_models if is_ours and not (self.early_stopping or self.warm_start) else 1

    def _check_effort(self, kept: Any, loss: Loss) -> None:
        """Raise ValueError for what does not go together."""
        name = type(self).__name__
        if self.warm_start and self.effort == "best":
            raise ValueError(f"effort of {name} must be 'fast' or 'usual' where warm_start=True; got 'best'.")
        if self.warm_start and self.n_models not in ("auto", 1):
            raise ValueError(f"n_models of {name} must be 1 or 'auto' where warm_start=True; got {self.n_models}.")
        if kept and len(kept._members) > 1:
            raise ValueError(
                f"warm_start of {name} must be False after a fit of {len(kept._members)} models; got True. Fit with "
                "warm_start=True or n_models=1 from the start."
            )
        if self.leaf == "linear" and has_own_leaves(loss):
            raise ValueError(
                f"leaf of {name} must be 'constant' or 'auto' with a loss whose leaves have values of their own; got "
                f"'linear' with loss={self.loss!r}."
            )

    def _trees_for(self, setting: Setting, n_samples: int) -> TreeParameters:
        """The parameters of trees by a setting."""
        chosen = self._settings_for(setting, n_samples)
        own = {name: rule_of(self, name).resolve(chosen[name], n_samples) for name in ("max_depth", "min_samples_leaf")}
        return self._tree_parameters(n_samples, **FIXED | own)

    def _boosting_for(self, setting: Setting, n_samples: int, n_features: int, rate: float) -> BoostParameters:
        """What boosting depends on beside its trees, by a setting."""
        chosen = self._settings_for(setting, n_samples)
        return BoostParameters(
            learning_rate=rate,
            l2=float(chosen["l2_regularization"]),
            min_gain=float(self.min_gain) * chances(n_features),
            min_child_weight=float(self.min_child_weight),
            subsample=float(chosen["subsample"]),
            separate=self._is_separate,
            linear=chosen["leaf"] == "linear",
        )

    def _choose(
        self,
        kept: Any,
        training: Problem,
        growth_for: GrowthFor,
        key: int,
        settings: list[Setting],
        n_members: int,
        workers: Workers,
    ) -> Choice:
        """Settings, learning rates, and how many rounds there will be."""
        rate = None if self.learning_rate == "auto" else float(self.learning_rate)
        if kept:
            member = Member(kept._members[0].setting, rate or kept.learning_rate_)
            return Choice([member], kept.n_iter_ + self._n_new(kept.n_iter_, 6))
        n_rounds = None if self.n_estimators == "auto" else int(self.n_estimators)
        wish = Wish(
            rate,
            n_rounds,
            self.effort,
            may_try=not self.early_stopping,
            settings=settings,
            n_members=n_members,
            shares=not self._is_separate,
        )
        return choose(training, growth_for, wish, key, workers)

    def _to_audition(self, loss: Loss, n_samples: int, n_outputs: int, is_classes: bool) -> list[Setting]:
        """The usual setting, and others that differ from it in what the user leaves to us."""
        may_be_linear = not has_own_leaves(loss) and self.leaf != "constant"
        known = settings_for(n_samples, n_outputs, is_classes, may_be_linear)
        if self.effort == "fast":
            known = [Setting("fast", fast_for(n_samples).changes if may_be_linear else {})]
        found: dict[str, Setting] = {}
        for setting in known:
            free = {name: value for name, value in setting.changes.items() if _is_auto(getattr(self, name))}
            left = setting._replace(changes=free)
            found.setdefault(str(self._settings_for(left, n_samples)), left)
        return list(found.values())

    def _settings_for(self, setting: Setting, n_samples: int) -> dict[str, Any]:
        """What parameters that may be left to us are by a setting, unless the user says so."""
        usual = {"max_depth": scale_of(n_samples).max_depth, "l2_regularization": self._usual_l2, **CONSTANT}
        given = {name: value for name in AUDITIONED if not _is_auto(value := getattr(self, name))}
        return usual | setting.changes | given

    def _told(self, choice: Choice, n_samples: int) -> list[dict[str, Any]]:
        """What was tried, for users."""
        if choice.found is None:
            return []
        chosen, entries = choice.found
        settings = [self._settings_for(entry.setting, n_samples) for entry in entries]
        return [e.told(own, sum(e is one for one in chosen)) for e, own in zip(entries, settings, strict=True)]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"
