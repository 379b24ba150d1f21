"""Rewrites the README's table of parameters from the source: python docs/parameter_table.py."""

import inspect
from pathlib import Path
from typing import Any

import sublearn
from sublearn._base.parameters import PARAMETERS

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- parameters: python docs/parameter_table.py -->\n\n", "\n<!-- end of parameters -->"
KINDS = {"tree": "", "forest": "Forest", "boosting": "Boost"}


def parameter_table() -> str:
    """All parameters of trees, forests and boosting as a Markdown table."""
    kinds = [(_defaults(f"SLM{kind}Classifier"), _defaults(f"SLM{kind}Regressor")) for kind in KINDS.values()]
    lines = [f"| parameter | paper | {' | '.join(KINDS)} | meaning |", "|---|---|---|---|---|---|"]
    for name, parameter in PARAMETERS.items():
        if not any(name in defaults for kind in kinds for defaults in kind):  # those of feature selection alone
            continue
        symbol, text = parameter.symbol, parameter.text.replace("|", "\\|")
        defaults = " | ".join(_default_of(name, *kind) for kind in kinds)
        lines.append(f"| `{name}` | {f'`{symbol}`' if symbol else ''} | {defaults} | {text} |")
    return "\n".join(lines) + "\n"


def with_parameter_table(text: str) -> str:
    """The text of a README with the table renewed."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + parameter_table() + END + after


def _defaults(estimator: str) -> dict[str, Any]:
    return {name: value.default for name, value in inspect.signature(getattr(sublearn, estimator)).parameters.items()}


def _default_of(name: str, classifier: dict[str, Any], regressor: dict[str, Any]) -> str:
    """The default in words, with the owner where classifier and regressor differ."""
    if name not in classifier and name not in regressor:
        return ""
    if name not in regressor:
        return f"`{classifier[name]!r}` (classifier only)"
    if name not in classifier:
        return f"`{regressor[name]!r}` (regressor only)"
    if classifier[name] == regressor[name]:
        return f"`{classifier[name]!r}`"
    return f"`{classifier[name]!r}`, regressor `{regressor[name]!r}`"


if __name__ == "__main__":
    README.write_text(with_parameter_table(README.read_text("utf-8")), "utf-8")
