"""The contenders of Tables I and III, and two of ours; what is searched is in `grids`.

Ours are ELM, which the paper names as an ancestor, and a decision tree whose growth is searched, as SLM's is.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sublearn import (
    SLMBoostClassifier,
    SLMBoostRegressor,
    SLMClassifier,
    SLMForestClassifier,
    SLMForestRegressor,
    SLMRegressor,
)
from sublearn.paper import BOOST, BOOST_CLASSES, FOREST, FOREST_CLASSES, PARAMETERS
from sublearn.paper.elm import ELMClassifier, ELMRegressor
from sublearn.paper.ff_mlp import BPMLPClassifier, FFMLPClassifier

N_TREES = 100  # of RF and XGBoost
MAX_ITER = 1_000_000  # of support vector machines, which on some samples would not end
# solved without a dual, the linear one converges on all sets, also on heavy tails and for a large C
_PRIMAL: dict[str, Any] = {"epsilon": 0.1, "loss": "squared_epsilon_insensitive", "dual": False}

Make = Callable[..., Any]  # hyper-parameters and random_state by name -> estimator


class Contender(NamedTuple):
    """A row of Table I or III."""

    title: str
    group: int  # 0: basic methods, 1: ensembles; the best of each is bold
    classes: Make | None
    numbers: Make | None
    follows: str | None = None  # the contender whose choice of hyper-parameters it takes

    def name(self, is_classes: bool) -> str:
        """SLM is SLR, and SVM is SVR, where the target is a number."""
        return self.title if is_classes else self.title.replace("SLM", "SLR").replace("SVM", "SVR")

    def make(self, is_classes: bool) -> Make:
        """What makes an estimator."""
        make = self.classes if is_classes else self.numbers
        assert make is not None
        return make


def _scaled(make: Make, **fixed: Any) -> Make:
    """Contenders on features of mean 0 and deviation 1; nothing in them is random."""

    def made(random_state: int, **searched: Any) -> Any:
        return make_pipeline(StandardScaler(), make(**fixed, **searched))

    return made


def _fixed(make: Make, **fixed: Any) -> Make:
    return lambda **searched: make(**{**fixed, **searched})


def _xgboost(name: str) -> Make:
    def made(**searched: Any) -> Any:
        import xgboost  # pip install 'sublearn[paper]'

        return getattr(xgboost, name)(n_estimators=N_TREES, n_jobs=1, **searched)

    return made


CONTENDERS: dict[str, Contender] = {
    "ff-mlp": Contender("FF-MLP", 0, FFMLPClassifier, None),
    "bp-mlp": Contender("BP-MLP", 0, BPMLPClassifier, None, follows="ff-mlp"),
    "elm": Contender("ELM", 0, ELMClassifier, ELMRegressor),
    "lsvm": Contender("LSVM", 0, _scaled(SVC, kernel="linear", max_iter=MAX_ITER), _scaled(LinearSVR, **_PRIMAL)),
    "svm-rbf": Contender("SVM/RBF", 0, _scaled(SVC, max_iter=MAX_ITER), _scaled(SVR, max_iter=MAX_ITER)),
    "dt": Contender("DT", 0, _fixed(DecisionTreeClassifier, criterion="entropy"), DecisionTreeRegressor),
    "dt-tuned": Contender("DT tuned", 0, _fixed(DecisionTreeClassifier, criterion="entropy"), DecisionTreeRegressor),
    "slm-baseline": Contender(
        "SLM Baseline", 0, _fixed(SLMClassifier, **PARAMETERS), _fixed(SLMRegressor, **PARAMETERS)
    ),
    "rf": Contender(
        "RF",
        1,
        _fixed(RandomForestClassifier, n_estimators=N_TREES),
        _fixed(RandomForestRegressor, n_estimators=N_TREES),
    ),
    "xgboost": Contender("XGBoost", 1, _xgboost("XGBClassifier"), _xgboost("XGBRegressor")),
    "slm-forest": Contender(
        "SLM Forest",
        1,
        _fixed(SLMForestClassifier, **FOREST_CLASSES),
        _fixed(SLMForestRegressor, **FOREST),
    ),
    "slm-boost": Contender(
        "SLM Boost",
        1,
        _fixed(SLMBoostClassifier, **BOOST_CLASSES),
        _fixed(SLMBoostRegressor, **BOOST),
    ),
}
PAIRS = {"slm-baseline": "dt", "slm-forest": "rf", "slm-boost": "xgboost"}  # what each is measured against
COMPARED = (("slm-baseline", "dt"), ("slm-baseline", "dt-tuned"), ("slm-forest", "rf"), ("slm-boost", "xgboost"))
NOT_IN_PAPER = ("elm", "dt-tuned")


def of_table(is_classes: bool) -> list[str]:
    """Names of those that Table I (classes) or III (numbers) has, and of ours."""
    return [name for name, c in CONTENDERS.items() if (c.classes if is_classes else c.numbers) is not None]
