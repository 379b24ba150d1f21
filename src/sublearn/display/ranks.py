"""What displays of ranked features share: how many are shown, their names, sizes."""

from collections.abc import Sequence
from typing import Any

from sublearn._base.parameters import whole
from sublearn.display.names import one_line

CHARACTER = 0.075  # inches


def check_count(given: Any, name: str, owner: str) -> int:
    """Raise ValueError for what is no number of features."""
    if not whole(1).accepts(given):
        raise ValueError(f"{name} of {owner} must be {whole(1).words}; got {given!r}.")
    return int(given)


def renamed(names: Sequence[str], given: Sequence[str] | None, owner: str) -> list[str]:
    """The names given, or else those there are."""
    chosen = names if given is None else given
    if len(chosen) != len(names):
        raise ValueError(
            f"feature_names of {owner} must have a name for each of {len(names)} features; got {len(chosen)}."
        )
    return list(map(one_line, chosen))
