"""The report as one HTML page: figures are inside, and nothing is loaded from elsewhere."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from sublearn.paper.sheets import Cell, Sheet


class Picture(NamedTuple):
    """A figure that is already a file."""

    title: str
    caption: str
    svg: Path


class Section(NamedTuple):
    """A heading, what is said below it, and then tables and pictures."""

    title: str
    paragraphs: Sequence[str] = ()
    items: Sequence[str] = ()  # of a list
    sheets: Sequence[Sheet] = ()
    pictures: Sequence[Picture] = ()


def page(title: str, banner: str, is_warning: bool, sections: Sequence[Section]) -> str:
    """The whole page; the banner says under which protocol all of it was made."""
    links = " · ".join(f'<a href="#s{i}">{escape(section.title)}</a>' for i, section in enumerate(sections))
    body = "\n".join(_section(i, section) for i, section in enumerate(sections))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<p class="{"banner warning" if is_warning else "banner"}">{escape(banner)}</p>
<nav>{links}</nav>
</header>
<main>
{body}
</main>
</body>
</html>
"""


def _section(number: int, section: Section) -> str:
    items = "".join(f"<li>{escape(item)}</li>" for item in section.items)
    parts = [
        f'<section id="s{number}">',
        f"<h2>{escape(section.title)}</h2>",
        *(f"<p>{escape(text)}</p>" for text in section.paragraphs),
        *([f"<ul>{items}</ul>"] if items else []),
        *map(_table, section.sheets),
        *map(_picture, section.pictures),
        "</section>",
    ]
    return "\n".join(parts)


def _table(sheet: Sheet) -> str:
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in sheet.header)
    rows = "\n".join(
        f'<tr class="{"last" if i in sheet.breaks else ""}"><th scope="row">{escape(label)}</th>'
        f"{''.join(map(_cell, cells))}</tr>"
        for i, (label, cells) in enumerate(sheet.rows)
    )
    return f"""<h3>{escape(sheet.title)}</h3>
<p class="note">{escape(sheet.note)}</p>
<div class="scroll"><table id="{sheet.name}"{' class="text"' if sheet.is_text else ""}>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>"""


def _cell(cell: Cell) -> str:
    first, *others = map(escape, cell.lines)
    figure = f"<b>{first}</b>" if cell.is_best else first
    small = "".join(f"<small>{line}</small>" for line in others)
    return f'<td class="{"alarm" if cell.is_alarming else ""}">{figure}{small}</td>'


def _picture(picture: Picture) -> str:
    data = b64encode(picture.svg.read_bytes()).decode()
    return f"""<figure>
<h3>{escape(picture.title)}</h3>
<img alt="{escape(picture.caption, quote=True)}" src="data:image/svg+xml;base64,{data}">
<figcaption>{escape(picture.caption)}</figcaption>
</figure>"""


STYLE = """
:root { --ink: #1d2329; --soft: #5d6873; --line: #d9dee3; --tint: #f4f6f8; --blue: #0072b2; --red: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: #fff; font: 16px/1.5 system-ui, sans-serif; }
header, main { max-width: 1300px; margin: 0 auto; padding: 0 20px; }
h1 { font-size: 28px; line-height: 1.2; margin: 32px 0 12px; }
h2 { font-size: 22px; margin: 44px 0 8px; padding-top: 12px; border-top: 2px solid var(--ink); }
h3 { font-size: 17px; margin: 26px 0 8px; }
p, ul { max-width: 76ch; }
a { color: var(--blue); }
nav { margin: 12px 0 0; }
.banner { padding: 10px 14px; background: var(--tint); border-left: 5px solid var(--blue); max-width: none; }
.banner.warning { border-color: var(--red); font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 7px; text-align: right; vertical-align: top; white-space: nowrap; }
th, td { border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
tr.last > * { border-bottom: 2px solid var(--ink); }
tbody tr:hover > * { background: var(--tint); }
.text th, .text td { white-space: normal; text-align: left; min-width: 8em; }
.text td:nth-child(4), .text td:nth-child(5) { min-width: 20em; }
small { display: block; color: var(--soft); font-size: 12px; }
.alarm, .alarm small { color: var(--red); }
.note, figcaption { color: var(--soft); font-size: 14px; }
figure { margin: 0; }
figure img { max-width: 100%; height: auto; }
"""
