"""Loading: what is damaged, strange or too large is refused in words, and old files are read for ever."""

import hashlib
import json
import runpy
import struct
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fuzz import files
from fuzz.cases import FAILED, PASSED, REFUSED
from fuzz.files import Parts, apart, together
from fuzz.kinds import run_case

import sublearn
from sublearn import ModelFileError
from sublearn._files import models, reading, saving
from sublearn._files.errors import Fault
from sublearn._files.layout import MOST_HEADER, MOST_PARSED, MOST_SLOPES_EACH, size_in_words, size_when_parsed
from sublearn._files.memory import Memory
from sublearn._files.trees import check_ensemble, size_of_routes
from sublearn.core.boosting.leaves import MOST_SLOPES
from sublearn.core.model.flat_ensemble import FlatEnsemble
from sublearn.core.model.flat_tree import KINDS, FlatTree
from sublearn.kernels.shapley import SLOTS

DATA = Path(__file__).parents[1] / "data"
V1 = json.loads((DATA / "v1.json").read_text("utf-8"))
DIGESTS = {  # of files as users have them, which must never change
    "boost": "febf202259788205d6302ed98d69e63ddcbbfca73d0ee99f420212f058d3878b",
    "average": "1e15dd5e3828f0256faff3c48ac97ac77c8990ac45e2a62e71603620a5cd9d2c",
}
TREE, FOREST, BOOST, AVERAGE = 0, 2, 6, 8  # numbers of the files of `fuzz.files`
N_CASES, N_PARTS = 2000, 4


def rows() -> Any:
    frame = pd.DataFrame(V1["rows"]["data"], columns=V1["rows"]["columns"])
    return frame.assign(day=pd.to_datetime(frame["day"]))


@pytest.mark.parametrize("name", DIGESTS)
def test_file_of_format_1_is_the_one_that_was_written_then(name: str) -> None:
    assert hashlib.sha256((DATA / f"{name}-v1.slm").read_bytes()).hexdigest() == DIGESTS[name]


def test_model_of_format_1_predicts_to_the_bit_as_then() -> None:
    boost, average = (sublearn.load(DATA / f"{name}-v1.slm") for name in DIGESTS)
    assert boost.predict(rows()).tolist() == [float.fromhex(value) for value in V1["answers"]["boost"]]
    expected = [[float.fromhex(value) for value in row] for row in V1["answers"]["average"]]
    assert average.predict_proba(rows()).tolist() == expected
    assert average.classes_.tolist() == ["high", "low", "middle"]
    assert boost.feature_names_in_.tolist() == V1["rows"]["columns"]
    assert boost._model.kinds == ("numbers", "numbers", "numbers", None, None, "dates")
    assert boost._model.levels[3:5] == (("Ulm", "Zoë's", "[0, 1)", None), (1.0, 2.0, 3.0, 4.0, 5.0))
    assert boost._model.ensemble.nodes.slopes.first.size
    assert (boost.n_models, boost.settings_["n_models"]) == ("auto", 1)  # which was no parameter then


def test_model_of_format_1_goes_on_training() -> None:
    boost = sublearn.load(DATA / "boost-v1.slm")
    numbers, _ = runpy.run_path(str(DATA / "write_v1.py"))["targets"](rows())
    boost.set_params(warm_start=True, n_estimators=4).fit(rows(), numbers)
    assert boost.n_iter_ == 4


def loaded(data: bytes, folder: Path) -> Any:
    path = folder / "model.slm"
    path.write_bytes(data)
    return sublearn.load(path)


def refusal(data: bytes, folder: Path) -> str:
    """What is said of a file, without its name."""
    with pytest.raises(ModelFileError) as caught:
        loaded(data, folder)
    start, said = f"{folder / 'model.slm'} is no model that this sublearn can read: ", str(caught.value)
    assert said.startswith(start)
    assert said.endswith(".")
    return said.removeprefix(start)


def changed(number: int, change: Callable[[Parts], Any], is_laid_out: bool = True) -> bytes:
    """A file of which some parts are other ones."""
    parts = apart(files.files()[number])
    change(parts)
    return together(parts, is_laid_out)


def test_files_that_are_taken_apart_and_put_together_are_the_same_models(tmp_path: Path) -> None:
    for number in range(len(files.files())):
        files.use(loaded(changed(number, lambda parts: None), tmp_path))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100, 4000, -8, -1])
def test_truncated_files_are_refused(size: int, tmp_path: Path) -> None:
    data = files.files()[TREE]
    said = refusal(data[:size], tmp_path)
    assert "bytes" in said or "kB" in said


def test_files_that_go_on_are_refused(tmp_path: Path) -> None:
    assert "its arrays have" in refusal(files.files()[TREE] + b"\0", tmp_path)


def test_headers_of_any_size_take_no_memory(tmp_path: Path) -> None:
    data = files.files()[TREE]
    tracemalloc.start()
    said = refusal(struct.pack("<Q", 12 * 10**12) + data[8:], tmp_path)
    big = {"x": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}}
    arrays = refusal(changed(TREE, lambda parts: parts.header.update(big), is_laid_out=False), tmp_path)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said.startswith("its header should have 12 TB, the file has 5.")
    assert "must begin at byte" in arrays
    assert used < 2e6


def test_header_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "model.slm"
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", MOST_HEADER + 1))
        file.truncate(MOST_HEADER + 100)
    with pytest.raises(ModelFileError, match=r"its header has 8\.4 MB, and at most 8\.4 MB are read"):
        sublearn.load(path)


def test_header_of_very_many_lists_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    text = b'{"x": [' + b"[]," * 600_000 + b"0]}"
    tracemalloc.start()
    said = refusal(struct.pack("<Q", len(text)) + text, tmp_path)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said == "its header would take 133 MB of memory, and at most 94 MB are given to it."
    assert used < 3 * len(text)


def header(model: str = "{}", rest: str = "", is_ascii: bool = True) -> bytes:
    """A header with the document of a model, and with other entries."""
    document = json.dumps(f'{{"format": 1, "library": "1", "model": {model}}}', ensure_ascii=is_ascii)
    return f'{{"__metadata__": {{"sublearn": {document}}}{rest}}}'.encode()


LEVELS = '{"estimator": "SLMClassifier", "parameters": {"n_bins": %s}, "n_features": 1, "categories": [%s]}'
NAMES = [f"{i:x}" for i in range(30_000)]
HEAVY: dict[str, Callable[[], bytes]] = {
    "numbers": lambda: header(f'{{"x": [{"1000," * 100_000} 0]}}'),
    "numbers of an array": lambda: header(rest=f', "x": [{"1000," * 100_000} 0]'),
    "texts": lambda: header(f'{{"x": {json.dumps(NAMES)}}}'),
    "levels": lambda: header(LEVELS % (0, json.dumps(sorted(NAMES)))),
    "lists that become others": lambda: header(LEVELS % ("[" + "[1]," * 50_000 + "0]", "null")),
    "names": lambda: header(f'{{"x": {json.dumps(dict.fromkeys(NAMES, 1))}}}'),
    "names of arrays": lambda: header(rest=", " + json.dumps(dict.fromkeys(NAMES, 1))[1:-1]),
    "empty lists": lambda: header(f'{{"x": [{"[]," * 100_000} 0]}}'),
    "deep lists": lambda: header(f'{{"x": [{"[[[[[[[[0]]]]]]]]," * 30_000} 0]}}'),
    "objects": lambda: header(rest=f', "x": [{"""{"a":0},""" * 50_000} 0]'),
    "entries": lambda: header(
        rest=", "
        + json.dumps({name: {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]} for name in NAMES[:8000]})[1:-1]
    ),
    "a long text of wide characters": lambda: header(f'{{"x": "\U0001f600{"a" * 500_000}"}}', is_ascii=False),
    "a long name of wide characters": lambda: header(rest=f', "\U0001f600{"a" * 500_000}": 1'),
}


@pytest.mark.parametrize("kind", HEAVY)
def test_headers_take_no_more_memory_than_is_counted(kind: str, tmp_path: Path) -> None:
    refusal(files.files()[TREE][:-1], tmp_path)  # so that all is imported
    text = HEAVY[kind]()
    counted = size_when_parsed(text)
    data = struct.pack("<Q", len(text)) + text
    tracemalloc.start()
    refusal(data, tmp_path)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < counted + 1e6


@pytest.mark.parametrize("name", ["x", "y: [z], {w}"])
def test_models_of_many_features_and_levels_fit_into_a_file(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"{name} of a column that has a long name, number {i}" for i in range(10_000)]
    wide = pd.DataFrame(rng.normal(size=(20, 10_000)), columns=names)
    levels = pd.DataFrame({"level": [f"{name} {i:06}" for i in range(100_000)]})
    for X in (wide, levels):
        model = sublearn.SLMRegressor(max_depth=1, random_state=0).fit(X, np.arange(len(X)) % 7)
        model.save(tmp_path / "wide.slm")
        again = sublearn.load(tmp_path / "wide.slm")
        assert again.predict(X[:20]).tolist() == model.predict(X[:20]).tolist()
        assert again.feature_names_in_.tolist() == X.columns.tolist()


def test_models_that_no_reader_would_take_are_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = sublearn.SLMClassifier(random_state=0).fit(X, X[:, 0] > 0)
    for module, limit, words in (
        (saving, "MOST_PARSED", "Make rare levels one, or pickle the model"),
        (saving, "memory_for", "Fit with fewer max_partitions or n_coefficients, or pickle it"),
        (saving, "MOST_HEADER", "a file may have 9 bytes of them"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, (lambda size: 9) if limit == "memory_for" else 9)
            with pytest.raises(ModelFileError, match=words):
                model.save(tmp_path / "model.slm")
    monkeypatch.setattr(models, "MOST_TEXTS", 39)
    texts = np.where(X[:, 0] > 0, "a" * 5, "b")
    with pytest.raises(ModelFileError, match=r"classes take 40 bytes as texts of one length.*Shorten the longest"):
        sublearn.SLMClassifier(max_depth=1).fit(X[:4], texts[:4]).save(tmp_path / "model.slm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[" * 100_000, "no header of safetensors"),
        (b'{"a":' + b"[" * 50_000, "no JSON that can be read"),
        (b'{"a": NaN}', "NaN is no number of JSON"),
        (b'{"a": 1e999}', "1e999 is no float"),
        (b'{"a": 1, "a": 2}', "a name is there twice"),
        (b'{"a": "\xff"}', "no JSON that can be read: it is no UTF-8"),
        (b'{"a": ' + b"9" * 5000 + b"}", "no JSON that can be read"),
        (b"{}", "no metadata 'sublearn': it is another library's file"),
        (b'{"__metadata__": {"format": "pt"}}', "no metadata 'sublearn': it is another library's file"),
        (b'{"__metadata__": 3}', "'__metadata__' of its header must be an object; it is 3"),
        (b'{"__metadata__": {"sublearn": "[]"}}', "its document must be an object; it is a list of 0"),
    ],
    ids=str,
)
def test_headers_that_are_none_are_refused(text: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(struct.pack("<Q", len(text)) + text, tmp_path)


def put(name: str, at: int, value: Any) -> Callable[[Parts], Any]:
    """Change an entry of an array."""

    def change(parts: Parts) -> None:
        parts.arrays[name].reshape(-1)[at] = value

    return change


def all_in_the_root(parts: Parts) -> None:
    """Give all slopes to one node."""
    parts.arrays["slopes.first"][1:] = len(parts.arrays["slopes.feature"])


def field(value: Any, *names: Any) -> Callable[[Parts], Any]:
    """Change a field of the model."""

    def change(parts: Parts) -> None:
        at = parts.document["model"]
        for name in names[:-1]:
            at = at[name]
        at[names[-1]] = value

    return change


def test_leaves_have_no_more_slopes_than_files_and_explanations_have_room_for() -> None:
    assert MOST_SLOPES <= MOST_SLOPES_EACH <= SLOTS


@pytest.mark.parametrize(
    ("number", "change", "words"),
    [
        (TREE, lambda parts: parts.arrays.pop("trees.parent"), "it has no array 'trees.parent'"),
        (TREE, put("trees.parent", 3, 9), "trees.parent[3] must be an earlier node of the tree; it is 9"),
        (TREE, put("trees.parent", 1, 1), "trees.parent[1] must be an earlier node of the tree; it is 1"),
        (TREE, put("trees.children", 0, 0), "trees.children[0] must be a node whose parent it is; it is 0"),
        (TREE, put("trees.children", 0, 2**31 - 1), "trees.children[0] must be a node below"),
        (TREE, put("trees.depth", 1, 2), "trees.depth[1] must be one more than the parent's, and 0 for a root"),
        (TREE, put("trees.first_plane", 1, 9), "trees.first_plane[2] must not be below the one before"),
        (TREE, put("trees.first_child", 0, 1), "trees.first_child[0] must be where the cells of the node are"),
        (TREE, put("trees.first_term", 1, -5), "trees.first_term[1] must not be below the one before; it is -5"),
        (TREE, put("trees.feature", 0, 99), "trees.feature[0] must be from 0 to"),
        (TREE, put("trees.coefficient", 0, 0), "trees.coefficient[0] must not be 0"),
        (TREE, put("trees.coefficient", 0, 32767), "trees.coefficient[0] must keep sums within 16777215"),
        (TREE, put("trees.threshold", 0, 2**30), "trees.threshold[0] must be from -16777216 to 16777216"),
        (TREE, put("trees.value", 0, np.nan), "trees.value[0] must be finite"),
        (TREE, put("trees.loss", 0, np.nan), "trees.loss[0] must be a number"),
        (TREE, put("trees.n_samples", 0, -1), "trees.n_samples[0] must be at least 0; it is -1"),
        (TREE, put("trees.roots", 0, 1), "trees.roots[0] must be 0; it is 1"),
        (FOREST, put("trees.roots", 1, 10**6), "trees.roots[1] must be below"),
        (TREE, put("maps.features", 1, 7), "maps.features[1] must be the feature before or the next one; it is 7"),
        (TREE, put("maps.offsets", 1, 0), "maps.offsets[1] must be above the one before; it is 0"),
        (TREE, put("maps.knots", 0, np.inf), "maps.knots[0] must be finite"),
        (TREE, put("maps.knots", 0, 1e9), "maps.knots[1] must be above the one before"),
        (TREE, put("maps.levels", 0, -9000), "maps.levels[0] must be from"),
        (TREE, put("maps.gaps", 0, 2**40), "maps.gaps[0] must be from"),
        (TREE, put("maps.units", 0, 3.0), "maps.units[0] must be a power of two; it is 3.0"),
        (TREE, put("maps.listed", 0, True), "maps.listed[0] must be true for categories, and for nothing else"),
        (BOOST, put("slopes.first", 1, -1), "slopes.first[1] must not be below the one before"),
        (BOOST, all_in_the_root, "slopes.first[0] must be followed by at most 8; it is"),
        (BOOST, put("slopes.feature", 0, 77), "slopes.feature[0] must be from 0 to"),
        (BOOST, put("slopes.slope", 0, np.inf), "slopes.slope[0] must be finite"),
        (BOOST, put("slopes.low", 0, 9000), "slopes.low[0] must not be above slopes.high; it is 9000"),
        (BOOST, put("start", 0, np.nan), "'start' must be 1 finite numbers"),
        (BOOST, field("softmax", "link"), "'link' must be 'identity' or 'exponential'; it is 'softmax'"),
        (BOOST, field("gamma", "training", "loss", "name"), "the loss Gamma does not go with the link 'identity'"),
        (BOOST, field("-1", "training", "key"), "'key' must be a whole number of 64 bits; it is '-1'"),
        (BOOST, field([], "training", "members"), "'members' must have at least one entry"),
        (BOOST, field(2, "trees_a_round"), "'trees_a_round' must divide the number of trees, 3; it is 2"),
        (TREE, field(None, "classes"), "'classes' do not go with an SLMClassifier"),
        (TREE, field([2, 1, 0], "classes", "values"), "'classes' must be in order, each once"),
        (TREE, field("int8", "estimator"), "'estimator' of 'model' of its document must be 'SLMClassifier' or"),
        (TREE, field(1, "parameters", "envelope_floor"), "SLMClassifier has no parameter 'envelope_floor'; the file"),
        (TREE, field({"float": "x"}, "parameters", "n_bins"), "n_bins of SLMClassifier has a value that stands for"),
        (
            TREE,
            field("a", "parameters", "n_jobs"),
            "n_jobs of SLMClassifier must be null or a whole number that is not 0",
        ),
        (TREE, field([None], "categories"), "'categories' must have 4 entries, one a feature; it has 1"),
        (TREE, field(["b", "a"], "categories", 3), "the levels in 'categories' must be in order, each once"),
        (TREE, field([1.0], "categories", 3), "maps.offsets["),
        (TREE, field("nuMbers", "kinds", 0), "'kinds' must have nulls or some of numbers, text, dates"),
        (TREE, field([10**400], "categories", 3), "a level in 'categories' must be a number, a text or null"),
        (
            FOREST,
            field(["a", "b" * 10**7], "classes", "values"),
            "its header has 10 MB, and at most 8.4 MB are read",
        ),
        (FOREST, field(["a", "b" * 5 * 10**6], "classes", "values"), "'classes' would take 40 MB, all as long as"),
        (TREE, field(True, "votes"), "'votes' must be false for an SLMClassifier"),
        (AVERAGE, put("weights", 0, -1.0), "'weights' must be numbers from 0 to 1 that add up to 1"),
        (AVERAGE, put("weights", 0, np.nan), "'weights' must be numbers from 0 to 1 that add up to 1"),
        (AVERAGE, put("weights", 0, 1e308), "'weights' must be numbers from 0 to 1 that add up to 1"),
        (AVERAGE, field("SLMAverageClassifier", "estimator"), "SLMAverageClassifier cannot have an SLMRegressor"),
        (
            AVERAGE,
            lambda parts: parts.document["model"]["members"].pop(),
            "'weights' must have an entry for each of 'members', of",
        ),
    ],
)
def test_what_is_wrong_is_named(number: int, change: Any, words: str, tmp_path: Path) -> None:
    assert refusal(changed(number, change), tmp_path).startswith(words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dtype": "F64"}, "'trees.parent' has a shape that does not go with its place in the file"),
        ({"dtype": "F32"}, "'trees.parent' must be of type I32; it is of F32"),
        ({"dtype": "F3"}, "'dtype' of 'trees.parent' in its header must be 'BOOL' or 'I16' or"),
        ({"shape": [-1, -4]}, "'trees.parent' in its header must have a shape and places that are whole numbers"),
        ({"data_offsets": [0, 10**18]}, "'trees.parent' has a shape that does not go with its place"),
        (
            {"dtype": "BOOL", "shape": [10**400], "data_offsets": [0, 10**400]},
            "'trees.parent' in its header must have a",
        ),
        ({"shape": [9] * 100_000}, "'trees.parent' must have at most 8 dimensions; it has 100000"),
        (
            {"data_offsets": [0]},
            "'data_offsets' of 'trees.parent' in its header must be a list of 2; it is a list of 1",
        ),
    ],
    ids=str,
)
def test_entries_that_lie_are_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    data = changed(TREE, lambda parts: parts.header["trees.parent"].update(change), is_laid_out=False)
    assert refusal(data, tmp_path).startswith(words)


def test_arrays_that_share_bytes_are_refused(tmp_path: Path) -> None:
    def swap(parts: Parts) -> None:
        parts.header["trees.parent"]["data_offsets"] = parts.header["trees.depth"]["data_offsets"]

    assert "must begin at byte" in refusal(changed(TREE, swap, is_laid_out=False), tmp_path)


def test_newer_format_is_told_with_both_versions(tmp_path: Path) -> None:
    def renew(parts: Parts) -> None:
        parts.document.update(format=2, library="9.1.0", model="another thing")
        parts.arrays.clear()

    assert refusal(changed(TREE, renew), tmp_path) == (
        "it is of format 2, written by sublearn 9.1.0, and this is sublearn "
        f"{sublearn.__version__}, which reads formats up to 1. Install a newer one."
    )


def test_fields_and_arrays_that_are_not_known_are_passed_over(tmp_path: Path) -> None:
    """A later release may add such to format 1."""

    def add(parts: Parts) -> None:
        parts.document["more"] = parts.document["model"]["more"] = {"a": [1]}
        parts.arrays["more"] = np.arange(3)

    files.use(loaded(changed(BOOST, add), tmp_path))


def test_parameters_that_are_not_there_have_their_defaults(tmp_path: Path) -> None:
    """An earlier release may not have had them."""
    model = loaded(changed(TREE, lambda parts: parts.document["model"]["parameters"].pop("n_bins")), tmp_path)
    assert model.n_bins == 16


def test_file_that_becomes_shorter_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, usual = tmp_path / "model.slm", reading._entries
    path.write_bytes(files.files()[TREE])

    def cut(*given: Any) -> Any:
        with open(path, "r+b") as file:
            file.truncate(path.stat().st_size - 2000)
        return usual(*given)

    monkeypatch.setattr(reading, "_entries", cut)
    with pytest.raises(ModelFileError, match="it has become shorter while it was read"):
        sublearn.load(path)


def wide_tree(n_terms: int) -> FlatEnsemble:
    """A root and 256 children, all with eight hyperplanes of one term, but for one of many."""
    n_nodes, n_planes = 257, 257 * 8
    columns: dict[str, Any] = {name: np.zeros(n_nodes, kind.dtype) for name, kind in KINDS.items()}
    columns |= {name: np.zeros(n_planes, KINDS[name].dtype) for name in ("threshold", "plane_decrease")}
    sizes = np.ones(n_planes, np.int64)
    sizes[0] = n_terms
    columns["first_plane"] = np.arange(0, n_planes + 1, 8, dtype=np.int32)
    columns["first_term"] = np.append(0, np.cumsum(sizes)).astype(np.int32)
    columns["feature"] = np.append(np.arange(n_terms), np.zeros(n_planes - 1)).astype(np.int32)
    columns["coefficient"] = np.ones(len(columns["feature"]), np.int16)
    columns["children"] = np.append(np.arange(1, 257), np.full(256 * 256, -1)).astype(np.int32)
    columns["first_child"] = np.arange(0, 257 * 256, 256, dtype=np.int32)
    columns["parent"][0], columns["depth"][1:], columns["value"] = -1, 1, np.zeros((n_nodes, 1))
    return FlatEnsemble(FlatTree(**columns), np.zeros(1, np.int64))


def test_trees_that_would_take_far_more_memory_than_the_file_are_refused() -> None:
    few, many = wide_tree(60), wide_tree(30_000)
    check_ensemble(few, np.ones(60, np.int64), Memory(300_000, 0))
    with pytest.raises(Fault, match="its trees would take 126 MB to predict with, which is too much for a file of 480"):
        check_ensemble(many, np.ones(30_000, np.int64), Memory(480_000, 0))
    check_ensemble(many, np.ones(30_000, np.int64), Memory(8_000_000, 0))


def test_all_members_and_the_header_share_one_memory() -> None:
    wide = wide_tree(10_000)
    assert 3e7 < size_of_routes(wide) < MOST_PARSED / 2
    memory = Memory(300_000, 0)
    memory.give(size_of_routes(wide))
    memory.give(size_of_routes(wide))
    for used in (memory, Memory(300_000, MOST_PARSED - 10**7)):
        with pytest.raises(Fault, match="too much for a file of 300 kB"):
            used.give(size_of_routes(wide))


@pytest.mark.parametrize("n_terms", [1, 7, 300])
def test_routes_take_no_more_memory_than_is_counted(n_terms: int) -> None:
    ensemble = wide_tree(n_terms)
    _ = wide_tree(1).routes  # so that all is compiled
    tracemalloc.start()
    routes = ensemble.routes
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(routes.answers) == 511
    assert used < size_of_routes(ensemble) + 1e5


def test_a_feature_cannot_have_any_number_of_views(tmp_path: Path) -> None:
    def repeat(parts: Parts) -> None:
        arrays, n = parts.arrays, 17
        for name in ("features", "units", "gaps", "listed"):
            arrays[f"maps.{name}"] = np.append(np.repeat(arrays[f"maps.{name}"][:1], n), arrays[f"maps.{name}"][1:])
        end = int(arrays["maps.offsets"][1])
        for name in ("knots", "levels"):
            arrays[f"maps.{name}"] = np.append(np.tile(arrays[f"maps.{name}"][:end], n), arrays[f"maps.{name}"][end:])
        more = arrays["maps.offsets"][1:] + (n - 1) * end
        arrays["maps.offsets"] = np.append(np.arange(n) * end, more)

    words = refusal(changed(TREE, repeat), tmp_path)
    assert words.startswith("maps.features[16] must have a feature 16 times at most; it is 0")


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (999_999, "1.0 MB"), (2**64 - 1, "18 EB")]
)
def test_sizes_are_said_as_people_say_them(n: int, words: str) -> None:
    assert size_in_words(n) == words


@pytest.mark.skipif(sys.platform == "win32", reason="cases are stopped by signals that are not there")
@pytest.mark.parametrize("part", range(N_PARTS))
def test_damaged_files_are_refused_or_work(part: int) -> None:
    size = N_CASES // N_PARTS
    statuses = set()
    for number in range(part * size, (part + 1) * size):
        outcome = run_case("files", 1, number)
        assert outcome.status != FAILED, outcome.text
        statuses.add(outcome.status)
    assert statuses == {PASSED, REFUSED}
