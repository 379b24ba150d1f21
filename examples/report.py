"""
A report for people who do not code
===================================

Measurements of 569 cell nuclei, benign or malignant. A model learns from two thirds of them. `report` measures it on
the others and makes one page of what there is to say of it: how good it is and on what that was measured, which
mistakes it makes, which features it goes by, and its trees to open and close.
"""

# sphinx_gallery_thumbnail_path = "images/report.png"
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sublearn import SLMBoostClassifier, report

data = load_breast_cancer(as_frame=True)
diagnosis = data.target.map(dict(enumerate(data.target_names))).rename("diagnosis")
X_train, X_test, y_train, y_test = train_test_split(data.data, diagnosis, test_size=1 / 3, random_state=0)
model = SLMBoostClassifier(random_state=0).fit(X_train, y_train)

# %%
# The names of the columns and of the target are those on the page. Here it is, as a notebook shows it;
# ``made.save("report.html")`` writes it to a file.

made = report(model, X_test, y_test)
made

# %%
# The scores are there as numbers too, each with the ends of its 95 % interval.

for score in made.scores:
    print(score)

# %%
# The rows must not be those of the training. Where they seem to be, the page says so at its head. With ``folds``,
# copies of the model learn from parts of the rows and answer the others, so that all rows may be given.

print(report(model, X_train, y_train).looks_seen)
print(report(model, X_train, y_train, folds=3).scores[0])
