"""Rewrites the README's table of parameters from the source: python docs/parameter_table.py."""

import inspect
from pathlib import Path
from typing import Any

from sublearn import SLMClassifier, SLMRegressor
from sublearn._parameters import PARAMETERS

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- parameters: python docs/parameter_table.py -->\n\n", "\n<!-- end of parameters -->"


def parameter_table() -> str:
    """All parameters of the trees as a Markdown table."""
    classifier, regressor = _defaults(SLMClassifier), _defaults(SLMRegressor)
    lines = ["| parameter | paper | default | meaning |", "|---|---|---|---|"]
    for name in classifier | regressor:
        symbol, text = PARAMETERS[name].symbol, PARAMETERS[name].text.replace("|", "\\|")
        default = _default_of(name, classifier, regressor)
        lines.append(f"| `{name}` | {f'`{symbol}`' if symbol else ''} | {default} | {text} |")
    return "\n".join(lines) + "\n"


def with_parameter_table(text: str) -> str:
    """The text of a README with the table renewed."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + parameter_table() + END + after


def _defaults(estimator: type[Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(estimator).parameters.items()}


def _default_of(name: str, classifier: dict[str, Any], regressor: dict[str, Any]) -> str:
    """The default in words, with the owner where the two trees differ."""
    if name not in regressor:
        return f"`{classifier[name]!r}` (classifier only)"
    if name not in classifier:
        return f"`{regressor[name]!r}` (regressor only)"
    if classifier[name] == regressor[name]:
        return f"`{classifier[name]!r}`"
    return f"`{classifier[name]!r}`, regressor `{regressor[name]!r}`"


if __name__ == "__main__":
    README.write_text(with_parameter_table(README.read_text("utf-8")), "utf-8")
