"""The paper's own settings: SLMClassifier(**sublearn.paper.PARAMETERS) is SLM Baseline, SLMRegressor the same for SLR.

FOREST and BOOST are for the ensembles, of classes or of numbers; FOREST_CLASSES and BOOST_CLASSES have beside them what
only classes have: the majority vote, and one tree a class. What the paper searches for every data set has a usual value
to begin with. `presets` says where in the paper each value stands.
"""

from typing import Any

from sublearn.paper.presets import preset

PARAMETERS: dict[str, Any] = preset("tree")
FOREST: dict[str, Any] = preset("forest")
FOREST_CLASSES: dict[str, Any] = preset("forest", classes=True)
BOOST: dict[str, Any] = preset("boosting")
BOOST_CLASSES: dict[str, Any] = preset("boosting", classes=True)
