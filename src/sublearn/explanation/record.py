"""What `explain` gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sublearn.kernels.layout import Array

SHOWN = 5  # features in a summary


@dataclass(frozen=True, eq=False)
class Explanation:
    """Shapley values of predictions: what each feature of each sample adds to the base value.

    Of each sample and each output, the base value and the values of all features add up to the prediction.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
        The Shapley values; there is a third axis where there are several outputs.
    base_values : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Mean prediction for the background, the same for all samples.
    data : ndarray of shape (n_samples, n_features)
        The samples as floats; a category is the number of its level, and what is missing is NaN.
    display_data : ndarray of shape (n_samples, n_features)
        The samples as they are shown: levels in the place of their numbers. The same as `data` without categories.
    feature_names : list of str
        Names of the features.
    output_names : list of str or None
        Classes of the outputs; None for numbers.
    standard_errors : ndarray
        Of `values`, in the same shape; 0 where values are exact.
    is_exact : bool
        Whether all values are exact.
    output : {"raw", "prediction"}
        What is explained.
    n_background : int
        Samples of the background.

    See Also
    --------
    explain : Makes one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sublearn import SLMClassifier, explain
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = explain(SLMClassifier(max_depth=2, random_state=0).fit(X, y), X[:2], X)
    >>> explanation.values.shape, explanation.is_exact
    ((2, 4, 3), True)
    """

    values: Array
    base_values: Array
    data: Array
    display_data: Array
    feature_names: list[str]
    output_names: list[str] | None
    standard_errors: Array
    is_exact: bool
    output: str
    n_background: int

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        n, n_features = self.values.shape[:2]
        lines = [
            f"Explanation of {n} sample{'s' if n != 1 else ''} by {n_features} features, background of "
            f"{self.n_background}, output {self.output!r}: {self._certainty()}"
        ]
        names, several = self.output_names or [""], self.values.ndim == 3
        for k, name in enumerate(names if several else names[:1]):
            values, base = (
                (self.values[..., k], self.base_values[..., k]) if several else (self.values, self.base_values)
            )
            lines.append(f"  {f'class {name}: ' if name else ''}base value {base[0]:.4g}, {self._largest(values)}")
        return "\n".join(lines)

    def _certainty(self) -> str:
        if self.is_exact:
            return "exact"
        return f"sampled, standard errors up to {self.standard_errors.max():.2g}"

    def _largest(self, values: Array) -> str:
        """The features of largest values, of the one sample or on average."""
        one = len(values) == 1
        sizes = np.abs(values).mean(axis=0)
        order = np.argsort(-sizes, kind="stable")[:SHOWN]
        shown = [
            f"{self.feature_names[f]} {values[0, f]:+.3g}" if one else self._mean(f, sizes) for f in order.tolist()
        ]
        return f"{'largest' if one else 'largest on average'}: {', '.join(shown)}"

    def _mean(self, f: int, sizes: Array) -> str:
        return f"{self.feature_names[f]} {sizes[f]:.3g}"

    def to_shap(self) -> Any:
        """As a `shap.Explanation`, which the plots of shap take.

        Returns
        -------
        explanation : shap.Explanation
            With several outputs, choose one for a plot: ``explanation[..., 0]``.
        """
        try:
            import shap
        except ImportError:
            raise ImportError("to_shap of Explanation needs shap: pip install 'sublearn[shap]'") from None
        return shap.Explanation(
            values=self.values,
            base_values=self.base_values,
            data=self.data,
            display_data=self.display_data,
            feature_names=self.feature_names,
            output_names=self.output_names if self.values.ndim == 3 else None,
        )
