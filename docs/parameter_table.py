"""Rewrites the tables of docs/parameters.md from the source: python docs/parameter_table.py."""

import inspect
from pathlib import Path
from typing import Any

import sublearn
from sublearn._base.parameters import PARAMETERS

PAGE = Path(__file__).parent / "parameters.md"
BEGIN, END = "<!-- parameters: python docs/parameter_table.py -->\n\n", "\n<!-- end of parameters -->"
KINDS = {"tree": "", "forest": "Forest", "boosting": "Boost"}
# By importance; what is named nowhere comes last, in the order of the source.
TABLES = {
    "The six that matter first": (
        *("loss", "n_estimators", "learning_rate"),
        *("max_depth", "min_samples_leaf", "n_projections"),
    ),
    "Seed, threads and progress": ("random_state", "n_jobs", "verbose", "callbacks", "warm_start"),
    "Targets, losses and votes": ("quantile", "init", "criterion", "class_weight", "multiclass", "voting"),
    "Against overfitting": (
        *("early_stopping", "validation_fraction", "n_iter_no_change", "l2_regularization", "min_gain"),
        *("min_child_weight", "min_samples_split", "min_weight_fraction_leaf", "min_loss", "ccp_alpha", "subsample"),
        *("bootstrap", "max_samples", "oob_score"),
    ),
    "How a node searches": (),
}


def parameter_tables() -> str:
    """All parameters of trees, forests and boosting as Markdown tables."""
    kinds = [(_defaults(f"SLM{kind}Classifier"), _defaults(f"SLM{kind}Regressor")) for kind in KINDS.values()]
    known = [name for name in PARAMETERS if any(name in defaults for kind in kinds for defaults in kind)]
    named = [name for names in TABLES.values() for name in names]
    parts = []
    for title, names in TABLES.items():
        rows = "".join(_row(name, kinds) for name in names or (name for name in known if name not in named))
        head = f"| parameter | {' | '.join(KINDS)} | meaning |\n|---|---|---|---|---|\n"
        parts.append(f"## {title}\n\n:::{{div}} parameters\n{head}{rows}:::\n")
    return "\n".join(parts)


def with_parameter_tables(text: str) -> str:
    """The text of the page with the tables renewed."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + parameter_tables() + END + after


def _row(name: str, kinds: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    parameter = PARAMETERS[name]
    symbol = f" In the paper: `{parameter.symbol}`." if parameter.symbol else ""
    text = (parameter.text + symbol).replace("|", "\\|")
    return f"| `{name}` | {' | '.join(_default_of(name, *kind) for kind in kinds)} | {text} |\n"


def _defaults(estimator: str) -> dict[str, Any]:
    return {name: value.default for name, value in inspect.signature(getattr(sublearn, estimator)).parameters.items()}


def _default_of(name: str, classifier: dict[str, Any], regressor: dict[str, Any]) -> str:
    """The default in words, with the owner where classifier and regressor differ."""
    if name not in classifier and name not in regressor:
        return ""
    if name not in regressor:
        return f"`{classifier[name]!r}` (classes only)"
    if name not in classifier:
        return f"`{regressor[name]!r}` (numbers only)"
    if classifier[name] == regressor[name]:
        return f"`{classifier[name]!r}`"
    return f"`{classifier[name]!r}`, numbers `{regressor[name]!r}`"


if __name__ == "__main__":
    PAGE.write_text(with_parameter_tables(PAGE.read_text("utf-8")), "utf-8")
