"""sublearn: the Subspace Learning Machine, decision trees that cut with several sparse integer hyperplanes at once."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sublearn import display as display
    from sublearn import paper as paper
    from sublearn._base.progress import Progress
    from sublearn._files.errors import ModelFileError
    from sublearn.average import SLMAverageClassifier, SLMAverageRegressor
    from sublearn.boost import SLMBoostClassifier, SLMBoostRegressor
    from sublearn.core.boosting.losses import Loss
    from sublearn.explanation import (
        Counterfactuals,
        Explanation,
        Importances,
        Interactions,
        Route,
        counterfactual,
        explain,
        importances,
        interactions,
        route,
    )
    from sublearn.export import export_text, to_c, to_onnx, to_sql
    from sublearn.files import load
    from sublearn.forest import SLMForestClassifier, SLMForestRegressor
    from sublearn.reporting import Report, report
    from sublearn.selection import DiscriminantFeatureTest, RelevantFeatureTest
    from sublearn.tree import SLMClassifier, SLMRegressor
    from sublearn.tuning import tune

__all__ = [
    "Counterfactuals",
    "DiscriminantFeatureTest",
    "Explanation",
    "Importances",
    "Interactions",
    "Loss",
    "ModelFileError",
    "Progress",
    "RelevantFeatureTest",
    "Report",
    "Route",
    "SLMAverageClassifier",
    "SLMAverageRegressor",
    "SLMBoostClassifier",
    "SLMBoostRegressor",
    "SLMClassifier",
    "SLMForestClassifier",
    "SLMForestRegressor",
    "SLMRegressor",
    "counterfactual",
    "explain",
    "export_text",
    "importances",
    "interactions",
    "load",
    "report",
    "route",
    "to_c",
    "to_onnx",
    "to_sql",
    "tune",
]
__version__ = "0.1.0"

# Imported when first used, so that the command line answers at once: public modules, and where public names are.
_MODULES = (
    "average",
    "boost",
    "dask",
    "display",
    "explanation",
    "export",
    "files",
    "forest",
    "paper",
    "reporting",
    "selection",
    "tree",
    "tuning",
)
_HOMES = {
    "Counterfactuals": "explanation",
    "DiscriminantFeatureTest": "selection",
    "Explanation": "explanation",
    "Importances": "explanation",
    "Interactions": "explanation",
    "Loss": "core.boosting.losses",
    "ModelFileError": "_files.errors",
    "Progress": "_base.progress",
    "RelevantFeatureTest": "selection",
    "Report": "reporting",
    "Route": "explanation",
    "SLMAverageClassifier": "average",
    "SLMAverageRegressor": "average",
    "SLMBoostClassifier": "boost",
    "SLMBoostRegressor": "boost",
    "SLMClassifier": "tree",
    "SLMForestClassifier": "forest",
    "SLMForestRegressor": "forest",
    "SLMRegressor": "tree",
    "counterfactual": "explanation",
    "explain": "explanation",
    "export_text": "export",
    "importances": "explanation",
    "interactions": "explanation",
    "load": "files",
    "report": "reporting",
    "route": "explanation",
    "to_c": "export",
    "to_onnx": "export",
    "to_sql": "export",
    "tune": "tuning",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_HOMES})


if not TYPE_CHECKING:  # it would take any name for one of ours

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"sublearn.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'sublearn' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"sublearn.{_HOMES[name]}"), name)
        return value
