"""Where benchmarks and tests find files of data: in the folder that the variable SUBLEARN_DATA names.

Where it names none, they look into shared/data beside the clone, and do without what is not there.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sublearn.paper.datasets import FOLDER_VARIABLE, DataSet, MissingDataError, load

FOLDER = Path(os.environ.get(FOLDER_VARIABLE) or Path(__file__).parents[2] / "shared" / "data")


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.csv.gz"


def sets_of(names: Iterable[str]) -> Iterator[tuple[str, DataSet]]:
    """The paper's data sets of these names; says which ones are skipped, as their files are missing."""
    for name in names:
        try:
            data = load(name, folder=FOLDER)
        except MissingDataError as reason:
            print(f"{name:<18} skipped: {reason}")
        else:
            yield name, data
