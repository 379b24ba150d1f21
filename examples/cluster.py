"""
What workers send each other
============================

On a cluster rows stay with their workers. What travels are sums over them, of which there are as many for a million
rows as for a hundred thousand. Here the same boosting is fitted to more and more rows, on two and on four workers.

Workers are threads of this process here, so that the script runs anywhere as it stands. On a machine of your own leave
out ``processes=False``, and put the script below ``if __name__ == "__main__":``, which processes need.

The picture of the guide is this one: ``python examples/cluster.py docs/images/cluster.png`` renews it.
"""

import sys
from typing import Any

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

from sublearn import SLMBoostRegressor
from sublearn.dask import DaskSLMBoostRegressor

SETTINGS: dict[str, Any] = {"n_estimators": 5, "learning_rate": 0.3, "max_depth": 6, "random_state": 0}
N_FEATURES, N_BLOCKS = 10, 8
ROWS = [5_000 * 2**i for i in range(9)]


def samples(n: int) -> Any:
    """Rows in blocks, drawn by the workers when they need them."""
    rng, blocks = da.random.default_rng(0), (n // N_BLOCKS, N_FEATURES)
    X = rng.normal(size=(n, N_FEATURES), chunks=blocks).astype(np.float32)
    return X, X[:, 0] + X[:, 1] * X[:, 2]


# %%
# Each fit notes what its workers have sent, in ``traffic_``.

sent: dict[int, list[float]] = {}
models: dict[int, list[Any]] = {}
for n_workers in (2, 4):
    cluster = LocalCluster(n_workers, threads_per_worker=1, processes=False, dashboard_address=":0")
    with cluster, Client(cluster):
        fitted = [DaskSLMBoostRegressor(**SETTINGS).fit(*samples(n)) for n in ROWS]
        sent[n_workers] = [np.mean([one.n_bytes for one in model.traffic_]) for model in fitted]
        models[n_workers] = [model.to_local() for model in fitted]

# %%
# The models are those of one machine, to the bit:

X, y = (values.compute() for values in samples(ROWS[4]))
local = SLMBoostRegressor(**SETTINGS).fit(X, y)
for n_workers, each in models.items():
    is_same = np.array_equal(each[4].predict(X), local.predict(X))
    print(f"{n_workers} workers: the same predictions: {is_same}")

# %%
# Up to four megabytes, here some 100,000 rows, workers send each other the rows of a tree once, coded, and need not
# meet for every level of it. From there on they send sums, whose number depends on the depth of trees, and on
# candidates, bins and classes, but not on rows.

figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
data = 4 * (N_FEATURES + 1) * np.array(ROWS)
axes.loglog(ROWS, data / 2**20, "--", color="0.5", label="the data")
for n_workers, colour in zip(sent, ("#0072B2", "#D55E00"), strict=True):
    label = f"sent by each of {n_workers} workers"
    axes.loglog(ROWS, np.array(sent[n_workers]) / 2**20, "o-", color=colour, label=label)
axes.set(xlabel="rows", ylabel="megabytes in a fit of five trees")
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.yaxis.set_major_formatter("{x:g}")
axes.legend(frameon=False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
plt.show()
