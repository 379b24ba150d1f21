"""Rewrites the table of the paper's settings from the source: python docs/preset_table.py."""

from pathlib import Path

from sublearn.paper.presets import ANY, BY_TARGET, KINDS, OPEN, PINS, SAID, SEARCHED, Pin

PAGE = Path(__file__).parent / "presets.md"
BEGIN, END = "<!-- settings: python docs/preset_table.py -->\n\n", "\n<!-- end of settings -->"
HEADS = {
    SAID: "What the paper says",
    SEARCHED: "What the paper searches for every data set, with the values to begin with",
    OPEN: "What the paper leaves open, with our values",
    ANY: "What has no effect here, or is no matter of the model",
}


def preset_table() -> str:
    """All parameters with their sources, as Markdown tables."""
    parts = []
    for standing, head in HEADS.items():
        rows = [_row(name, pin) for name, pin in PINS.items() if pin.standing == standing]
        titles = f"| parameter | {' | '.join(KINDS)} | where | the paper's words in quotation marks, and ours |"
        parts.append("\n".join([f"### {head}", "", titles, "|---|---|---|---|---|---|", *rows, ""]))
    return "\n".join(parts)


def with_preset_table(text: str) -> str:
    """The text of the page with the tables renewed."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + preset_table() + END + after


def _row(name: str, pin: Pin) -> str:
    only = f" ({pin.only} only)" if pin.only else ""
    values = " | ".join(_value(name, pin, kind) for kind in KINDS)
    return f"| `{name}`{only} | {values} | {pin.place} | {pin.words} |"


def _value(name: str, pin: Pin, kind: str) -> str:
    if kind not in pin.values:
        return ""
    numbers = f", numbers `{BY_TARGET[name]!r}`" if name in BY_TARGET else ""
    return f"`{pin.values[kind]!r}`{numbers}"


if __name__ == "__main__":
    PAGE.write_text(with_preset_table(PAGE.read_text("utf-8")), "utf-8")
