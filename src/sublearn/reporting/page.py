"""The page: a skeleton with its style and its script, which are files beside this one, and the sections."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from string import Template

from sublearn import __version__
from sublearn.reporting.markup import Markup, element, joined
from sublearn.reporting.study import Section


def page(title: str, head: Sequence[Markup], sections: Sequence[Section]) -> str:
    """The whole page as HTML; nothing is loaded from elsewhere, and no other script can run on it."""
    style, script = _part("page.css"), _part("page.js")
    links = [element("li", element("a", one.title, href=f"#{one.name}")) for one in sections]
    return Template(_part("page.html")).substitute(
        style=style,
        script=script,
        style_hash=_digest(style),
        script_hash=_digest(script),
        version=joined(__version__),
        title=joined(title),
        head=joined(*head),
        links=joined(*links),
        sections=Markup("\n").join(one.markup() for one in sections),
    )


def _part(name: str) -> str:
    """A file of this package."""
    return (files("sublearn.reporting") / name).read_text("utf-8")


def _digest(text: str) -> str:
    """A digest as a content security policy has it."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
