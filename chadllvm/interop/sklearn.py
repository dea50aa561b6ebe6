"""Estimators of scikit-learn whose loss is a compiled function of a record.

class Robust(FittedByLoss, RegressorMixin, BaseEstimator):
    loss = staticmethod(robust_loss)                # loss(record, X, y, penalty)

    def __init__(self, penalty=1.0):
        self.penalty = penalty

    def start(self, X, y):
        return Line(0.0, np.zeros(X.shape[1]))

    def settings(self):
        return (self.penalty,)

    def predict(self, X):
        return self.record_.offset + X @ self.record_.slopes
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from chadllvm.api.reals import all_numbers
from chadllvm.api.transforms import value_and_grad
from chadllvm.interop.derived import compiled
from chadllvm.prelude.flat import ravel

Vector = np.ndarray[Any, Any]


class FittedByLoss:
    """`fit` minimises the loss of a record, by L-BFGS with the compiled gradient.

    A class names it before scikit-learn's own, gives `loss` and `start`, and predicts
    from `record_`. The loss takes the record, float64 arrays X and y, and `settings`.
    Labels of classifiers are numbered: y is of int64 then, by the order of `classes_`.

    Attributes:
        loss: a function that returns a float; compiled once for all estimators.
        max_iter, tol: of L-BFGS; parameters of the constructor may have these names.
        record_, loss_, n_iter_: the record that was found, its loss, the iterations.
        classes_: the labels of a classifier.
    """

    loss: ClassVar[Callable[..., Any]]
    max_iter: int = 1000
    tol: float = 1e-8

    def start(self, X: Vector, y: Vector) -> Any:  # noqa: N803
        """The record to start at, as `cl.ravel` takes it."""
        raise NotImplementedError(f"{type(self).__name__} does not say where to start")

    def settings(self) -> tuple[Any, ...]:
        """Further arguments of the loss."""
        return ()

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Find the record of the least loss.

        Raises:
            ValueError: if the data are not as scikit-learn asks for, or the loss of
                what is found is no number.
            CompileError: if the loss cannot be compiled.
        """
        features, target = self._checked(X, y)
        x0, unravel = ravel(self.start(features, target))
        function = value_and_grad(compiled(type(self).loss))
        rest = (features, target, *self.settings())

        def objective(v: Vector) -> tuple[float, Vector]:
            value, gradient = function(unravel(v), *rest)
            return value, all_numbers(gradient)

        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.0}
        found = minimize(objective, x0, jac=True, method="L-BFGS-B", options=options)
        if not np.isfinite(found.fun):
            raise ValueError(f"the loss is {found.fun} where the fit ends")
        # Where steps no longer change the loss, it is as small as floats can tell.
        if found.status == 1:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} steps",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.record_, self.loss_ = unravel(found.x), float(found.fun)
        self.n_iter_ = int(found.nit)
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Vector, Vector]:  # noqa: N803
        labels = is_classifier(self)
        features, target = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=not labels
        )
        if not labels:
            return features, np.asarray(target, np.float64)
        self.classes_, numbers = np.unique(target, return_inverse=True)
        return features, numbers.astype(np.int64)
