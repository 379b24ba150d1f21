"""Feature selection beside scikit-learn's: how long it takes, and what classifiers and regressors make of it.

    python benchmarks/feature_tests.py                # both
    python benchmarks/feature_tests.py speed          # 100,000 samples of 1,000 features; needs 2 GB
    python benchmarks/feature_tests.py quality --splits 5 --data-dir FOLDER

Speed: one thread each. `mutual_info_classif` and `mutual_info_regression` take minutes, so they have a few of the
features (`--columns`) and their time is multiplied; they treat features one by one, so that it grows in proportion.

Quality: 500 useless features join those of each set, half of them normal noise and half shuffled copies of real ones.
Every selector chooses from them, on the training part of a split, half as many features as the set has, or as many as
are useful where that is known; 'elbow' has the tests decide how many. Then a random forest and SLM boosting learn from
the chosen features of up to 1,000 samples. Accuracy for classes, R^2 for numbers; the same splits for all. p is of
Nadeau and Bengio's corrected paired test, feature test against peer.
"""

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import (
    SelectKBest,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)

from files import FOLDER
from sublearn import DiscriminantFeatureTest, RelevantFeatureTest, SLMBoostClassifier, SLMBoostRegressor
from sublearn.paper.datasets import SOURCES, MissingDataError, load, read_file
from sublearn.paper.significance import LEVEL, corrected_p_value

N_SAMPLES, N_FEATURES = 100_000, 1_000
N_USELESS = 500
MOST_TRAIN, MOST_TEST = 1_000, 4_000
CLASSES = ("breast-cancer", "ionosphere", "pima", "spambase", "higgs_sample", "bank_marketing", "usps", "madelon")
NUMBERS = ("boston", "california-housing", "kin8nm", "bike_sharing", "friedman-1")
USEFUL = {"madelon": 20, "friedman-1": 5}  # where it is known; half of the features elsewhere


class Part(NamedTuple):
    """Samples to learn from and to test on; the first `n_real` features are those of the set that are of use."""

    X: Any
    X_test: Any
    y: Any
    y_test: Any
    n_real: int


class Kind(NamedTuple):
    """What there is for classes, or for numbers."""

    sets: tuple[str, ...]
    test: Any
    mutual: Callable[..., Any]
    linear: Callable[..., Any]  # the F test
    learners: dict[str, Callable[[int], Any]]  # by a seed


KINDS = (
    Kind(
        CLASSES,
        DiscriminantFeatureTest,
        mutual_info_classif,
        f_classif,
        {
            "forest": lambda seed: RandomForestClassifier(n_jobs=-1, random_state=seed),
            "boost": lambda seed: SLMBoostClassifier(n_jobs=-1, random_state=seed),
        },
    ),
    Kind(
        NUMBERS,
        RelevantFeatureTest,
        mutual_info_regression,
        f_regression,
        {
            "forest": lambda seed: RandomForestRegressor(max_features=1 / 3, n_jobs=-1, random_state=seed),
            "boost": lambda seed: SLMBoostRegressor(n_jobs=-1, random_state=seed),
        },
    ),
)


# --- speed


def seconds_of(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def memory() -> float:
    """The most this process has had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def speed(n_columns: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    signal = X[:, :20].sum(axis=1) + rng.standard_normal(N_SAMPLES)
    print(f"{N_SAMPLES:,} samples of {N_FEATURES:,} features, {X.nbytes / 2**20:.0f} MB; the best of {repeats}")
    for kind in KINDS:
        y = (signal > 0).astype(int) if kind.test is DiscriminantFeatureTest else signal
        kind.test().fit(X[:100], y[:100])  # loads the kernels
        before = memory()
        ours = min(seconds_of(lambda: kind.test(n_jobs=1).fit(X, y)) for _ in range(repeats))  # noqa: B023
        # later ones stay below what f_classif has had, which copies X
        more = f"{memory() - before:.0f} MB more than X" if kind is KINDS[0] else ""
        print(f"{kind.test.__name__:<26}{ours:>9.2f} s   {more}", flush=True)
        linear = min(seconds_of(lambda: kind.linear(X, y)) for _ in range(repeats))  # noqa: B023
        print(f"{kind.linear.__name__:<26}{linear:>9.2f} s   {linear / ours:.1f} times ours", flush=True)
        some = seconds_of(lambda: kind.mutual(X[:, :n_columns], y, random_state=0))  # noqa: B023
        whole = some * N_FEATURES / n_columns
        print(
            f"{kind.mutual.__name__:<26}{whole:>9.1f} s   {whole / ours:.0f} times ours; {some:.2f} s for {n_columns}"
        )


# --- quality


def samples_of(name: str, seed: int, folder: Path) -> tuple[Any, Any]:
    """A set; 'madelon' is as the one of that name: clusters at the corners of a cube, and linear combinations."""
    if name == "madelon":
        return make_classification(  # type: ignore[no-any-return]
            2600,
            20,
            n_informative=5,
            n_redundant=15,
            n_clusters_per_class=16,
            flip_y=0.01,
            class_sep=2.0,
            random_state=0,
        )
    data = load(name, seed, folder) if name in SOURCES else read_file(folder / f"{name}.csv.gz")
    return data.X, data.y


def padded(X: Any, rng: Any) -> Any:
    """X with useless features behind its own."""
    copies = X[:, rng.integers(0, X.shape[1], N_USELESS // 2)]
    shuffled = rng.permuted(copies, axis=0)
    return np.hstack([X, rng.standard_normal((len(X), N_USELESS - N_USELESS // 2)), shuffled])


def split(name: str, seed: int, folder: Path) -> Part:
    X, y = samples_of(name, seed, folder)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    n_train = min(int(0.6 * len(X)), MOST_TRAIN)
    train, test = rows[:n_train], rows[n_train : n_train + MOST_TEST]
    wide = padded(X, rng)
    return Part(wide[train], wide[test], y[train], y[test], USEFUL.get(name, X.shape[1]))


def selectors(kind: Kind, n: int, seed: int) -> dict[str, Any]:
    return {
        "test": kind.test(n),
        "linear map": kind.test(n, feature_map="linear"),
        "mutual": SelectKBest(partial(kind.mutual, random_state=seed), k=n),
        "F": SelectKBest(kind.linear, k=n),
        "elbow": kind.test(),
    }


def score(model: Any, part: Part, columns: Any) -> float:
    return float(model.fit(part.X[:, columns], part.y).score(part.X_test[:, columns], part.y_test))


def quality(kind: Kind, n_splits: int, folder: Path, names: list[str]) -> None:
    head = "".join(f"{name:>12}" for name in ("test", "linear map", "mutual", "F", "elbow", "all"))
    print(
        f"\n{kind.test.__name__}: real features among those chosen, then scores\n{'set':<20}{'':<8}{head}   p mutual, F"
    )
    everything: dict[str, list[Any]] = {learner: [] for learner in kind.learners}
    for name in names:
        try:
            parts = [split(name, seed, folder) for seed in range(n_splits)]
        except (MissingDataError, OSError) as reason:
            print(f"{name:<20}skipped: {reason}")
            continue
        n_real = parts[0].n_real
        n = USEFUL.get(name, -(-n_real // 2))
        real, sizes = [], []
        scores: dict[str, list[list[float]]] = {learner: [] for learner in kind.learners}
        for seed, part in enumerate(parts):
            chosen = {key: s.fit(part.X, part.y).get_support(True) for key, s in selectors(kind, n, seed).items()}
            real.append([float(np.mean(columns < n_real)) for columns in chosen.values()])
            sizes.append(len(chosen["elbow"]))
            chosen["all"] = np.arange(part.X.shape[1])
            for learner, make in kind.learners.items():
                different = {columns.tobytes(): columns for columns in chosen.values()}
                known = {key: score(make(seed), part, columns) for key, columns in different.items()}
                scores[learner].append([known[columns.tobytes()] for columns in chosen.values()])
        row = "".join(f"{100 * share:>10.0f} %" for share in np.mean(real, axis=0))
        print(f"{name + f' ({n} of {n_real})':<28}{row}   elbow keeps {np.mean(sizes):.0f}", flush=True)
        share = len(parts[0].y_test) / (len(parts[0].y) + len(parts[0].y_test))
        for learner, found in scores.items():
            table = np.array(found)
            ps = [corrected_p_value(table[:, 0] - table[:, peer], test_share=share) for peer in (2, 3)]
            marks = ["*" if p < LEVEL else "" for p in ps]
            row = "".join(f"{value:>12.4f}" for value in table.mean(axis=0))
            print(f"{'':<20}{learner:<8}{row}   {ps[0]:.3f}{marks[0]}, {ps[1]:.3f}{marks[1]}", flush=True)
            everything[learner].append(table.mean(axis=0))
    for learner, rows in everything.items():
        print(f"{'mean':<20}{learner:<8}{''.join(f'{value:>12.4f}' for value in np.mean(rows, axis=0))}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["speed", "quality"], metavar="speed or quality")
    parser.add_argument("--columns", type=int, default=10, help="features that the mutual information is timed on")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data-dir", type=Path, default=FOLDER)
    parser.add_argument("--sets", nargs="*", help="names of sets; all unless given")
    arguments = parser.parse_args()
    if "speed" in arguments.what:
        speed(arguments.columns, arguments.repeats)
    if "quality" in arguments.what:
        for kind in KINDS:
            names = [name for name in kind.sets if not arguments.sets or name in arguments.sets]
            if names:
                quality(kind, arguments.splits, arguments.data_dir, names)


if __name__ == "__main__":
    main()
