"""
Train here, score elsewhere
===========================

A fitted model can leave Python. ``to_onnx`` writes a graph that onnxruntime runs, ``to_c`` a C file that needs nothing
but a compiler. Here one model goes both ways, and both are asked for the same rows in processes that know nothing of
sublearn.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnx
from sklearn.datasets import load_diabetes

from sublearn import SLMBoostRegressor, to_c, to_onnx

X, y = load_diabetes(return_X_y=True)
model = SLMBoostRegressor(n_estimators=100, learning_rate=0.1, random_state=0).fit(X[::2], y[::2])
rows = np.tile(X, (20, 1))
folder = Path(tempfile.mkdtemp())
np.savetxt(folder / "rows.txt", rows, fmt="%.17g")
begin = time.perf_counter()
ours = model.predict(rows)
seconds = {"sublearn": time.perf_counter() - begin}
answers = {}

# %%
# onnxruntime, in a process that cannot import sublearn:

onnx.save(to_onnx(model), folder / "model.onnx")
SCORE = """
import sys, time, json
sys.modules["sublearn"] = None
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
rows = np.loadtxt("rows.txt")
begin = time.perf_counter()
(value,) = session.run(["value"], {"X": rows})
print(json.dumps([time.perf_counter() - begin, value.tolist()]))
"""
done = subprocess.run([sys.executable, "-c", SCORE], cwd=folder, check=True, capture_output=True, text=True)
seconds["ONNX"], values = json.loads(done.stdout)
answers["ONNX"] = np.array(values)

# %%
# C, where there is a compiler; the program reads rows and writes what it predicts:

MAIN = """
#include <stdio.h>
#include <time.h>
int main(void)
{
    double x[model_N_FEATURES], out[1];
    int f = 0;
    clock_t spent = 0, begin;
    while (scanf("%lf", &x[f]) == 1)
        if (++f == model_N_FEATURES) {
            begin = clock();
            model_predict(x, out);
            spent += clock() - begin;
            printf("%.17g\\n", out[0]);
            f = 0;
        }
    fprintf(stderr, "%g", (double) spent / CLOCKS_PER_SEC);
    return 0;
}
"""
compiler = shutil.which("cc")
if compiler is not None:
    (folder / "model.c").write_text(to_c(model) + MAIN)
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
    subprocess.run([compiler, *flags, "model.c", "-o", "model"], cwd=folder, check=True)
    with (folder / "rows.txt").open() as stream:
        done = subprocess.run(folder / "model", stdin=stream, check=True, capture_output=True, text=True)
    answers["C"], seconds["C"] = np.array(done.stdout.split(), np.float64), float(done.stderr)

for name, found in answers.items():
    print(
        f"{name}: {len(found)} rows, the same to the bit in {np.mean(found == ours):.0%}, else off by at most "
        f"{np.abs(found - ours).max():.0e}"
    )

# %%
# Every point lies on the diagonal. How long it takes depends on the machine; numbers are the same on all.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for (name, found), mark in zip(answers.items(), ("o", "x"), strict=False):
    left.plot(ours[: len(X)], found[: len(X)], mark, markersize=5, fillstyle="none", label=name)
left.axline((150, 150), slope=1, color="black", linewidth=0.8)
left.set(xlabel="predicted by sublearn", ylabel="predicted elsewhere")
left.legend(frameon=False)
right.barh([*seconds], [1e6 * spent / len(rows) for spent in seconds.values()], color="#0072B2")
right.set(xlabel="microseconds a row")
plt.show()
shutil.rmtree(folder)
