"""Kernels that one process compiles for the others of a run."""

import subprocess
import sys

# in a process of its own: in this one other tests have compiled everything
PROGRAM = """
from sublearn.kernels import compilation
from sublearn.paper import convergence, datasets, node_figure, search
from sublearn.paper.compiling import compile_kernels
from sublearn.paper.grids import QUICK

_compile = compilation.Kernel._compile


def refuse(kernel, arguments):
    raise AssertionError(f"{kernel.__name__} is compiled late")


def compile_no_more(with_root):
    compilation.Kernel._compile = _compile
    compile_kernels(with_root=with_root)
    compilation.Kernel._compile = refuse


convergence.N_TREES, convergence.TREES = 2, (1, 2)
convergence.BOOSTING["n_estimators"] = 2
search.N_QUICK, search.QUICK = 1, {name: settings[:1] for name, settings in QUICK.items()}
compile_no_more(with_root=False)
for data_set in ("iris", "wine", "breast-cancer", "friedman-1"):
    for name in ("slm-baseline", "slm-forest", "slm-boost"):
        search.try_contender(name, data_set, 0, "honest", quick=True)
convergence.measured(search.split(datasets.load("wine"), 0), 0)
compile_no_more(with_root=True)
node_figure.partition_and_tree()
"""


def test_nothing_is_left_to_compile() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
