"""`sublearn inspect`: what a model is, in words, as JSON, or one of its trees."""

import json
import os
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from sublearn.command.messages import counted, listed, one_line, refuse
from sublearn.command.models import Kept, load_model
from sublearn.command.predict import ModelFile

MOST_LEVELS, MOST_FEATURES = 6, 20


def inspect(
    model: ModelFile,
    tree: Annotated[int | None, typer.Option(min=0, help="Print this tree as text; the first is 0.")] = None,
    all_features: Annotated[bool, typer.Option("--all", help=f"All features, not the first {MOST_FEATURES}.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a model is: size, depth, features and their importances, or one of its trees."""
    kept = load_model(model)
    if tree is not None:
        typer.echo(_tree(kept, tree))
        return
    found = describe(kept)
    typer.echo(json.dumps(found, indent=2) if as_json else "\n".join(_words(found, all_features)))


def _tree(kept: Kept, number: int) -> str:
    """A tree as text."""
    from sublearn import export_text

    places = [(member, t) for member in kept.members for t in range(member._model.ensemble.n_trees)]
    if number >= len(places):
        refuse(f"--tree: {kept.path} has the trees 0 to {len(places) - 1}; got {number}.")
    member, t = places[number]
    try:
        return export_text(member, tree=t)
    except (TypeError, ValueError) as error:
        refuse(one_line(error))


def describe(kept: Kept) -> dict[str, Any]:
    """What a model is, by names."""
    members = kept.members
    record = members[0]._model
    importances = kept.model.feature_importances_.tolist()
    names = kept.features or [f"x{i}" for i in range(record.n_features)]
    levels = record.levels or (None,) * record.n_features
    features = [
        {"name": name, "kind": kind, "importance": share, "levels": None if one is None else list(one)}
        for name, kind, share, one in zip(names, kept.kinds(), importances, levels, strict=True)
    ]
    trees = [member._model.ensemble for member in members]
    return {
        "file": kept.path,
        "bytes": os.path.getsize(kept.path),
        "estimator": type(kept.model).__name__,
        "task": "classes" if kept.is_classifier else "numbers",
        "target": kept.notes.get("target"),
        "training_rows": kept.notes.get("n_rows"),
        "classes": kept.model.classes_.tolist() if kept.is_classifier else None,
        "members": [type(member).__name__ for member in members] if len(members) > 1 else None,
        "trees": sum(one.n_trees for one in trees),
        "depth": max(int(one.nodes.depth.max()) for one in trees),
        "nodes": sum(len(one.nodes.depth) for one in trees),
        "hyperplanes": sum(member._model.n_partitions for member in members),
        "parameters": sum(member._model.n_parameters for member in members),
        "settings": _settings(members[0]),
        "features": sorted(features, key=lambda one: -one["importance"]),
    }


def _settings(member: Any) -> dict[str, Any]:
    """Parameters that differ from their defaults."""
    defaults = type(member)().get_params()
    given = {name: value for name, value in member.get_params().items() if value != defaults[name]}
    return {
        name: value if isinstance(value, bool | int | float | str | None) else str(value)
        for name, value in given.items()
    }


def _words(found: dict[str, Any], all_features: bool) -> Iterator[str]:
    """The same as lines of text."""
    from sublearn._files.layout import size_in_words

    yield f"{found['file']}: {found['estimator']}, {size_in_words(found['bytes'])}"
    rows = f", learned from {counted(found['training_rows'], 'row')}" if found["training_rows"] else ""
    yield f"predicts      {found['target'] or found['task']} ({found['task']}){rows}"
    if found["classes"]:
        yield f"classes       {len(found['classes']):,}: {listed(found['classes'])}"
    if found["members"]:
        yield f"members       {len(found['members'])}: {listed(found['members'])}"
    yield f"trees         {found['trees']:,}, up to {found['depth']} deep"
    yield f"hyperplanes   {found['hyperplanes']:,} ({found['nodes']:,} nodes, {found['parameters']:,} parameters)"
    if found["settings"]:
        yield f"settings      {', '.join(f'{name}={value!r}' for name, value in found['settings'].items())}"
    features = found["features"]
    shown = features if all_features else features[:MOST_FEATURES]
    width = max(len(one["name"]) for one in shown)
    yield f"features      {len(features):,}, the most important first"
    for one in shown:
        bar = "#" * round(20 * one["importance"])
        yield f"  {one['name']:{width}}  {one['importance']:6.1%}  {bar:20}  {_kind(one)}"
    if len(shown) < len(features):
        yield f"  and {len(features) - len(shown):,} more; --all shows them"


def _kind(feature: dict[str, Any]) -> str:
    """What a feature holds."""
    if feature["levels"] is None:
        return str(feature["kind"])
    from sublearn._base.frames import level_name

    levels = [level_name(level) for level in feature["levels"]]
    return f"{counted(len(levels), 'level')}: {listed(levels, MOST_LEVELS)}"
