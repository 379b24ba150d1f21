"""Where benchmarks and tests find files: in the folder that SUBLEARN_DATA names, or shared/data beside the project."""

import os
from pathlib import Path

from sublearn.paper.datasets import FOLDER_VARIABLE

FOLDER = Path(os.environ.get(FOLDER_VARIABLE) or Path(__file__).parents[2] / "shared" / "data")


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.csv.gz"
