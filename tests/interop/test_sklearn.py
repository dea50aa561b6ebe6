"""Estimators of scikit-learn that are fitted by compiled losses."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import chadllvm as cl

pytest.importorskip("sklearn")

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from chadllvm.interop.sklearn import FittedByLoss


class Line(NamedTuple):
    offset: float
    slopes: cl.f64[:]


@cl.jit
def squares(line: Line, x: cl.f64[:, :], y: cl.f64[:], penalty: float) -> float:
    r = line.offset + x @ line.slopes - y
    return np.sum(r * r) + penalty * np.sum(line.slopes**2)


@cl.jit
def logistic(line: Line, x: cl.f64[:, :], y: cl.i64[:]) -> float:
    z = line.offset + x @ line.slopes
    return np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * np.sum(line.slopes**2)


class Linear(FittedByLoss):
    def start(self, X: Any, y: Any) -> Line:  # noqa: N803
        return Line(0.0, np.zeros(X.shape[1]))

    def decision(self, X: Any) -> Any:  # noqa: N803
        check_is_fitted(self)
        return self.record_.offset + X @ self.record_.slopes


class OurRidge(Linear, RegressorMixin, BaseEstimator):
    loss = staticmethod(squares)

    def __init__(self, penalty: float = 1.0, max_iter: int = 1000) -> None:
        self.penalty, self.max_iter = penalty, max_iter

    def settings(self) -> tuple[float]:
        return (self.penalty,)

    def predict(self, X: Any) -> Any:  # noqa: N803
        return self.decision(X)


class OurLogistic(Linear, ClassifierMixin, BaseEstimator):
    loss = staticmethod(logistic)

    def predict(self, X: Any) -> Any:  # noqa: N803
        return self.classes_[(self.decision(X) > 0.0).astype(int)]


class Bare(FittedByLoss, RegressorMixin, BaseEstimator):
    loss = staticmethod(squares)


RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.3 + 0.1 * RNG.normal(size=90)
LABELS = np.where(Y + RNG.normal(size=90) > 0.0, "up", "down")


def test_as_scikit_learn_fits() -> None:
    ours, theirs = OurRidge(0.7).fit(X, Y), Ridge(0.7).fit(X, Y)
    assert np.allclose(ours.record_.slopes, theirs.coef_, rtol=1e-6)
    assert ours.record_.offset == pytest.approx(theirs.intercept_, rel=1e-6)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y))
    ours, theirs = OurLogistic().fit(X, LABELS), LogisticRegression().fit(X, LABELS)
    assert list(ours.classes_) == ["down", "up"]
    assert np.allclose(ours.record_.slopes, theirs.coef_[0], rtol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_with_what_takes_estimators() -> None:
    assert OurRidge(0.3).get_params() == {"penalty": 0.3, "max_iter": 1000}
    assert clone(OurRidge(0.3).fit(X, Y)).set_params(max_iter=5).penalty == 0.3
    ours = cross_val_score(OurRidge(), X, Y, cv=3)
    assert np.allclose(ours, cross_val_score(Ridge(), X, Y, cv=3))
    assert cross_val_score(OurLogistic(), X, LABELS, cv=3).min() > 0.6
    search = GridSearchCV(
        make_pipeline(StandardScaler(), OurRidge()),
        {"ourridge__penalty": [0.1, 1e4]},
        cv=3,
    )
    assert search.fit(X, Y).best_params_ == {"ourridge__penalty": 0.1}

    fitted = OurRidge().fit(X, Y)
    loaded = pickle.loads(pickle.dumps(fitted))
    assert (loaded.predict(X) == fitted.predict(X)).all()
    assert loaded.fit(X, Y).loss_ == fitted.loss_


def test_what_is_wrong_is_told() -> None:
    with pytest.raises(NotFittedError):
        OurRidge().predict(X)
    with pytest.raises(ValueError, match="NaN"):
        OurRidge().fit(np.full((3, 2), np.nan), np.zeros(3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        OurRidge().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="the loss is nan"):
        OurRidge(np.nan).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        OurRidge(max_iter=1).fit(X, Y)
    with pytest.raises(NotImplementedError, match="Bare does not say where to start"):
        Bare().fit(X, Y)
