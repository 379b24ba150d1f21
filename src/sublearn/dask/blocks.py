"""Collections of Dask as blocks of rows that belong together, before anything is computed."""

from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
from dask.delayed import Delayed
from dask.optimization import cull
from distributed import Client, futures_of

import dask


class Table(NamedTuple):
    """Samples in blocks: X, y and what else there is for each sample."""

    blocks: list[dict[str, Delayed]]
    sizes: list[float]  # of blocks, or 1 where sizes are not known
    columns: list[Any] | None  # names, of a frame
    types: dict[Any, Any]  # of its columns, by name; none where names come twice
    held: list[Any]  # keys of what is on the cluster already
    recipes: "list[Recipe] | None" = None  # of each block by itself, where blocks have no task in common

    @property
    def is_lazy(self) -> bool:
        """Whether nothing is on the cluster yet."""
        return not self.held


class Recipe:
    """The tasks that make a block, to be computed as one: nothing that is between them waits in a worker's memory."""

    def __init__(self, graph: dict[Any, Any], keys: list[Any]) -> None:
        self.graph, self.keys = graph, keys

    def made(self) -> tuple[Any, ...]:
        """The parts of the block."""
        return tuple(dask.get(self.graph, self.keys))


def is_collection(given: Any) -> bool:
    """Whether this is an array or a frame of Dask."""
    return isinstance(given, da.Array | dd.DataFrame | dd.Series)


def table_of(owner: str, given: dict[str, Any], prefix: str = "") -> Table:
    """The blocks of what is given to `fit` by name; None where there is nothing."""
    there = {name: _checked(owner, f"{prefix}{name}", values) for name, values in given.items() if values is not None}
    X = there["X"]
    if isinstance(X, da.Array):
        X = there["X"] = X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X
        there = {name: _like(owner, f"{prefix}{name}", values, X) for name, values in there.items()}
    n_blocks = _n_blocks(X)
    for name, values in there.items():
        if _n_blocks(values) != n_blocks:
            raise ValueError(
                f"{prefix}{name} of {owner}.fit must have the partitions of X; X has {n_blocks} and {prefix}{name} "
                f"{_n_blocks(values)}. Repartition or rechunk it."
            )
    lists = {name: _parts(values) for name, values in there.items()}
    blocks = [{name: parts[i] for name, parts in lists.items()} for i in range(n_blocks)]
    held = [future.key for values in there.values() for future in futures_of(values)]
    return Table(
        blocks=blocks,
        sizes=_sizes(X),
        columns=list(X.columns) if isinstance(X, dd.DataFrame) else None,
        types=dict(X.dtypes) if isinstance(X, dd.DataFrame) and X.columns.is_unique else {},
        held=held,
        recipes=None if held else _recipes(blocks),
    )


def _recipes(blocks: list[dict[str, Delayed]]) -> list[Recipe] | None:
    """How each block is made; None where blocks share tasks, which are then computed once."""
    whole: dict[Any, Any] = {}
    for one in blocks[0].values() if blocks else ():
        whole |= dict(one.dask)  # it has the tasks of all blocks
    recipes, n_tasks, seen = [], 0, set()
    for block in blocks:
        keys = [one.key for one in block.values()]
        own, _ = cull(whole, keys)
        n_tasks += len(own)
        seen |= set(own)
        recipes.append(Recipe(dict(own), keys))
    return recipes if len(seen) == n_tasks else None


def local_table(given: dict[str, Any]) -> Table:
    """Samples that the client has, as one block."""
    there = {name: dask.delayed(values, traverse=False) for name, values in given.items() if values is not None}
    columns = list(given["X"].columns) if hasattr(given["X"], "columns") else None
    return Table(blocks=[there], sizes=[1.0], columns=columns, types={}, held=[])


def holders_of(table: Table, client: Client) -> dict[int, set[str]]:
    """The workers on which blocks are, of those that are on any."""
    holding = _by_block(table.held, len(table.blocks))
    keys = [key for keys in holding.values() for key in keys]
    if not keys:
        return {}
    places = client.sync(client.scheduler.who_has, keys=keys)
    return {block: {who for key in keys for who in places.get(key, ())} for block, keys in holding.items()}


def is_gone(table: Table, client: Client) -> bool:
    """Whether some of what was on the cluster is not, and can not be computed again."""
    if table.is_lazy:
        return False
    states = client.sync(client.scheduler.get_task_status, keys=table.held)
    return any(states[key] is None for key in table.held)


def _checked(owner: str, name: str, given: Any) -> Any:
    """A collection."""
    if not is_collection(given):
        raise TypeError(
            f"{name} of {owner}.fit must be an array or a data frame of Dask; got {type(given).__name__}. For data "
            f"that are here take sublearn.{owner.removeprefix('Dask')}, or dask.array.from_array."
        )
    if name.endswith("X") and not isinstance(given, dd.DataFrame) and getattr(given, "ndim", 1) != 2:
        raise ValueError(
            f"{name} of {owner}.fit must have rows and columns; got {getattr(given, 'ndim', 1)} dimension."
        )
    return given


def _like(owner: str, name: str, values: Any, X: da.Array) -> Any:
    """An array in the blocks of X, where sizes are known."""
    if not isinstance(values, da.Array) or any(map(_is_unknown, (*values.chunks[0], *X.chunks[0]))):
        return values
    if values.shape[0] != X.shape[0]:
        raise ValueError(f"{name} of {owner}.fit must have the {X.shape[0]} rows of X; got {values.shape[0]}.")
    return values if values.chunks[0] == X.chunks[0] else values.rechunk({0: X.chunks[0]})


def _parts(values: Any) -> list[Delayed]:
    """The blocks of a collection.

    Frames are not optimised to the end: of files Dask would read several into one block, the more the fewer columns are
    wanted, and X and y would have other blocks then.
    """
    if isinstance(values, da.Array):
        return list(values.to_delayed(optimize_graph=True).ravel())
    return list(values.simplify().to_delayed(optimize_graph=False))


def _n_blocks(values: Any) -> int:
    return int(values.numblocks[0] if isinstance(values, da.Array) else values.npartitions)


def _sizes(X: Any) -> list[float]:
    """Rows of blocks; 1 each where a number is not known."""
    if isinstance(X, da.Array) and not any(map(_is_unknown, X.chunks[0])):
        return [float(n) for n in X.chunks[0]]
    return [1.0] * _n_blocks(X)


def _is_unknown(size: float) -> bool:
    return size != size


def _by_block(keys: list[Any], n_blocks: int) -> dict[int, list[Any]]:
    """Keys of what is on the cluster by block; those of a collection have the number of the block after their name."""
    found: dict[int, list[Any]] = {}
    for key in keys:
        if isinstance(key, tuple) and len(key) > 1 and isinstance(key[1], int) and key[1] < n_blocks:
            found.setdefault(key[1], []).append(key)
    return found
