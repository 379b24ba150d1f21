"""HTML and SVG as text, in which everything is escaped that has not been made here."""

from collections.abc import Iterable
from html import escape
from typing import Any

VOID = frozenset({"circle", "line", "path", "polyline", "rect"})  # elements without contents


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def element(name: str, *children: Any, **attributes: Any) -> Markup:
    """An element with its attributes and contents; text in these is escaped.

    Attributes are written with hyphens for underscores; a trailing underscore is left out, as in `class_`. None and
    False leave an attribute out, True gives it no value.
    """
    written = "".join(
        f" {_name(key)}" if value is True else f' {_name(key)}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID and not children:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Any) -> Markup:
    """Contents one after another; None is nothing, and lists are taken apart."""
    return Markup("".join(_parts(children)))


def _parts(children: Iterable[Any]) -> Iterable[str]:
    for child in children:
        if isinstance(child, Markup):
            yield child
        elif isinstance(child, str):
            yield escape(clean(child))
        elif child is not None:
            yield from _parts(child)


def clean(text: str) -> str:
    """Text without signs that no page can hold: controls become a replacement sign, as do halves of pairs."""
    return "".join(
        sign if (sign >= " " and not "\x7f" <= sign < "\xa0" and not "\ud800" <= sign < "\ue000") else _stand_in(sign)
        for sign in text
    )


def _stand_in(sign: str) -> str:
    return " " if sign in "\t\n\r" else "\ufffd"


def _name(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


def _text(value: Any) -> str:
    """A value of an attribute; coordinates have two decimals at the most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else clean(str(value))
