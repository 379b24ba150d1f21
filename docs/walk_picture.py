"""Draws the walk from `fit` to a leaf, for light and for dark pages: python docs/walk_picture.py."""

from pathlib import Path
from typing import NamedTuple

IMAGES = Path(__file__).parent / "images"
WIDTH, ROW, GAP, MARGIN, ICON = 510, 66, 16, 18, 46
OUTER, CENTRE = WIDTH - 2 * MARGIN, WIDTH // 2 - 30
QUESTION = "pure, small or deep enough?"


class Palette(NamedTuple):
    """Colours of one picture."""

    page: str
    card: str
    group: str
    line: str
    ink: str
    one: str
    other: str


PALETTES = {
    "light": Palette("#FFFFFF", "#F3F6F9", "#E4EEF6", "#7A8793", "#1C2329", "#0072B2", "#D55E00"),
    "dark": Palette("#121416", "#23292F", "#1A2530", "#8A97A3", "#F0F3F5", "#56B4E9", "#E8843C"),
}


class Step(NamedTuple):
    """One box: its name, what happens there, and the modules that do it."""

    name: str
    text: str
    modules: str
    icon: str


BEFORE = (
    Step("fit(X, y)", "the estimator checks its parameters", "tree.py · forest.py · boost.py", "table"),
    Step("Take in", "X, y and weights; weight 0 is dropped", "_base/intake.py · core/data/samples.py", "check"),
    Step("Encode", "each value becomes a whole number", "core/data/codes.py", "codes"),
)
NODE = (
    Step("1 Rank", "each feature alone; the best are S0", "kernels/subspace.py", "bars"),
    Step("2 Draw", "sums of them, small whole coefficients", "kernels/projection.py", "rays"),
    Step("3 Score", "bins, best threshold and loss of each", "kernels/discriminant.py", "histogram"),
    Step("4 Keep", "the best, and others across it", "kernels/decorrelation.py", "cuts"),
    Step("5 Split", "sides of the cuts make the children", "kernels/partition.py", "cells"),
)
AFTER = (
    Step("Leaf", "shares of the classes, or a value", "core/tree/answers.py", "leaf"),
    Step("Flat tree", "all nodes as arrays: the fitted form", "core/model/flat_tree.py", "arrays"),
    Step("predict(X)", "codes, the same sides, the leaf's answer", "core/model/flat_ensemble.py", "route"),
)


def rect(x: float, y: float, width: float, height: float, **style: object) -> str:
    """A rectangle; words of a style are joined by underscores."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{written(style)}/>'


def words(x: float, y: float, text: str, **style: object) -> str:
    """A line of text."""
    return f'<text x="{x:g}" y="{y:g}"{written(style)}>{text}</text>'


def dot(x: float, y: float, fill: str) -> str:
    """A sample."""
    return f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}"/>'


def stroke(path: str, colour: str, **style: object) -> str:
    """A line along a path."""
    style = {"stroke": colour, "stroke_width": 1.8, "stroke_linecap": "round", "fill": "none"} | style
    return f'<path d="{path}"{written(style)}/>'


def written(style: dict[str, object]) -> str:
    """A style as attributes of SVG."""
    return "".join(f' {name.strip("_").replace("_", "-")}="{value}"' for name, value in style.items())


def icon(kind: str, c: Palette) -> str:
    """A small drawing in a square of ICON."""
    both = (c.one, c.other)
    drawings = {
        "table": [rect(8 + 11 * i, 9 + 10 * j, 8, 7, fill=both[i == 2]) for i in range(3) for j in range(3)],
        "check": [stroke("M11 24 L20 33 L36 13", c.ink)],
        "codes": [
            words(23, 17, "1.25", font_size=12, fill=c.ink, text_anchor="middle"),
            stroke("M23 21 V28 M20 25.5 L23 28.5 L26 25.5", c.ink),
            words(23, 41, "1280", font_size=12, fill=c.ink, text_anchor="middle"),
        ],
        "bars": [rect(8, 9 + 8 * i, w, 5, fill=(c.one, c.line)[i > 1]) for i, w in enumerate((30, 22, 12, 8))],
        "rays": [stroke(f"M23 24 L{end}", c.ink) for end in ("39 17", "33 38", "13 36", "9 14", "26 7")],
        "histogram": [
            *(rect(7 + 5.5 * i, 38 - h, 4.5, h, fill=both[i > 2]) for i, h in enumerate((9, 20, 14, 6, 18, 11))),
            stroke("M23 7 V40", c.ink, stroke_dasharray="3 3"),
        ],
        "cuts": [stroke("M7 34 L40 12", c.ink), stroke("M12 7 L34 40", c.ink)],
        "cells": [
            stroke("M1 38 L20 24.5 L7 5 Q1 5 1 12 Z", "none", fill=c.one, opacity=0.55),
            stroke("M20 24.5 L45 8 V40 Q45 45 38 45 H33 Z", "none", fill=c.other, opacity=0.55),
            stroke("M1 38 L45 8 M5 2 L33 45", c.ink),
        ],
        "leaf": [dot(16, 18, c.one), dot(28, 14, c.one), dot(31, 28, c.one), dot(18, 32, c.other)],
        "arrays": [rect(6 + 7 * i, 10 + 10 * j, 6, 7, fill="none", stroke=c.ink) for i in range(5) for j in range(3)],
        "route": [
            stroke("M23 9 L32 22 L37 36 M32 22 L27 36 M14 22 L19 36", c.ink, opacity=0.5),
            stroke("M23 9 L14 22 L9 36", c.other),
            dot(9, 37, c.other),
        ],
    }
    frame = rect(0, 0, ICON, ICON, rx=6, fill=c.page, stroke=c.line, stroke_width=0.8)
    return frame + "".join(drawings[kind])


def card(step: Step, x: float, y: float, width: float, c: Palette) -> str:
    """A step: its drawing, its name, what happens, and where."""
    left = x + ICON + 26
    return (
        rect(x, y, width, ROW, rx=8, fill=c.card, stroke=c.line, stroke_width=0.8)
        + f'<g transform="translate({x + 10:g} {y + 10:g})">{icon(step.icon, c)}</g>'
        + words(left, y + 21, step.name, font_size=15.5, font_weight=700, fill=c.ink)
        + words(left, y + 39, step.text, font_size=14, fill=c.ink)
        + words(left, y + 57, step.modules, font_size=13, class_="code", fill=c.one)
    )


def arrow(path: str, c: Palette) -> str:
    """A line with a head."""
    return stroke(path, c.ink, stroke_width=1.6, stroke_linecap="butt", marker_end="url(#head)")


def column(steps: tuple[Step, ...], x: float, y: float, width: float, c: Palette) -> tuple[str, float]:
    """Steps below each other, each with an arrow to what follows, and where that begins."""
    parts = []
    for step in steps:
        parts += [card(step, x, y, width, c), arrow(f"M{CENTRE} {y + ROW:g} v{GAP - 1}", c)]
        y += ROW + GAP
    return "\n".join(parts), y


def node(y: float, c: Palette) -> tuple[str, float]:
    """What happens at every node, with the way back for its children, and where it ends."""
    left, width = MARGIN + 14, OUTER - 92
    steps, bottom = column(NODE, left, y + 34, width, c)
    first, question, right = y + 34 + ROW / 2, bottom + 15, MARGIN + OUTER - 38
    middle = (first + question) / 2
    turned = {
        "font_size": 14,
        "fill": c.ink,
        "text_anchor": "middle",
        "transform": f"rotate(90 {right + 17} {middle:g})",
    }
    parts = [
        rect(MARGIN, y, OUTER, bottom + 34 - y, rx=12, fill=c.group, stroke=c.one),
        words(left, y + 23, "Every node", font_size=15, font_weight=700, fill=c.ink),
        words(left + 102, y + 23, "kernels/machine.py · kernels/growing.py", font_size=13, class_="code", fill=c.one),
        steps,
        words(CENTRE, question + 5, QUESTION, font_size=14.5, font_weight=600, fill=c.ink, text_anchor="middle"),
        arrow(f"M{CENTRE + 122} {question:g} H{right} V{first:g} H{left + width + 3}", c),
        words(right + 17, middle, "no: each child is a node", **turned),
    ]
    return "\n".join(parts), bottom + 34


def picture(c: Palette) -> str:
    """The whole walk, from top to bottom."""
    before, y = column(BEFORE, MARGIN, MARGIN, OUTER, c)
    inside, y = node(y, c)
    yes = arrow(f"M{CENTRE} {y:g} v{GAP - 1}", c) + words(CENTRE + 12, y + 12.5, "yes", font_size=13.5, fill=c.ink)
    after, y = column(AFTER[:-1], MARGIN, y + GAP, OUTER, c)
    last = card(AFTER[-1], MARGIN, y, OUTER, c)
    height = y + ROW + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
        'role="img" font-family="system-ui, sans-serif">\n<title>The walk from fit to a leaf</title>\n'
        "<style>.code { font-family: ui-monospace, monospace; }</style>\n"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L8 4 L0 8 Z" fill="{c.ink}"/></marker></defs>\n'
        + "\n".join([rect(0, 0, WIDTH, height, rx=10, fill=c.page), before, inside, yes, after, last])
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    for name, palette in PALETTES.items():
        (IMAGES / f"walk-{name}.svg").write_text(picture(palette), "utf-8")
