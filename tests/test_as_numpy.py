"""Functions of arrays, of elements of any kind and with any number of axes.

They give what NumPy gives, or are refused; an error is an error in both. What is known
to differ is listed with the reason.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chadllvm as cl
from tests.sweep import marks


def forms(text: str) -> list[str]:
    """Expressions without spaces in them."""
    return text.split()


# Of an array `a`.
FORMS = forms(
    """
    np.sum(a) np.mean(a) np.var(a) np.std(a,ddof=1) np.prod(a) np.max(a) np.min(a)
    np.ptp(a) np.argmax(a) np.argmin(a) np.any(a) np.all(a) np.count_nonzero(a)
    np.cumsum(a) np.cumprod(a) np.diff(a) np.sort(a) np.argsort(a,kind="stable")
    np.flatnonzero(a) np.round(a) np.round(a,1) np.round(a,-1) np.abs(a) np.sign(a)
    np.square(a) np.sqrt(abs(a)) np.floor(a) np.trunc(a) np.exp(a*0.01)
    np.where(a>0,a,0) np.where(a,1,2) a+a a*a a-1 -a a/2 a//2 a%3 a**2 a>1
    a==a[::-1] (a>0)&(a<2) ~(a>0) a.sum() a.mean() a.max() a.T np.ravel(a)
    np.flip(a) np.zeros_like(a) np.ones_like(a) np.full_like(a,2) np.median(a)
    np.unique(a) np.nansum(a) np.nanmax(a) np.nanmean(a) np.isnan(a) np.isfinite(a)
    np.clip(a,-1,1) np.clip(a,None,1) np.maximum(a,0) np.minimum(a,1.5)
    np.fmax(a,0.5) np.logical_not(a) np.roll(a,2) np.repeat(a,2) np.tile(a,2)
    np.array(a,dtype=float) np.array(a,dtype=int) a.astype(int) a.astype(float)
    a.astype(bool) a.astype(np.float32) abs(a) np.positive(a) np.cbrt(a) np.tanh(a)
    np.sinc(a) np.heaviside(a,0.5) np.deg2rad(a) np.mod(a,2) np.fmod(a,2)
    np.remainder(a,-3) np.power(a,2) np.float_power(a,2) np.true_divide(a,2)
    np.floor_divide(a,2) np.copysign(a,-1.0) np.hypot(a,1) np.arctan2(a,1)
    np.logaddexp(a,0) len(a) a[::-1] a[1:] a[:-1] a[::2] a[-1:] a[5:] a[:,None]
    a[None] a[...,0] a[-1] a[0] np.concatenate([a,a]) np.stack([a,a])
    np.expand_dims(a,0) np.squeeze(a) np.atleast_1d(a) np.linalg.norm(a)
    np.dot(a.ravel(),a.ravel()) np.outer(a,a) a.copy() a.flatten() a.reshape(-1)
    np.quantile(a,0.3) np.percentile(a,40) np.average(a) np.histogram(a,3)[0]
    np.bincount(abs(a)) np.digitize(a,np.array([-1.0,0.0,1.0]))
    np.searchsorted(np.array([-1.0,0.0,1.0]),a)
    np.interp(a,np.array([-1.0,0.0,1.0]),np.array([5.0,6.0,8.0])) np.trapezoid(a)
    np.gradient(a) np.nanvar(a) np.nanmin(a) np.nanprod(a) np.nancumsum(a)
    np.convolve(a,np.ones(2)) np.cov(a) a.argmax() a.cumsum() a.prod() a.any()
    a.min() a.round(1) a.clip(0,1) a.repeat(2) np.add.reduce(a) np.add.accumulate(a)
    np.multiply.outer(a,a) np.array_equal(a,a) np.allclose(a,a) np.isclose(a,a+0.0)
    np.rint(a) np.logical_xor(a,a>0) np.bitwise_and(a,3) np.left_shift(a,1) a&1 a^a
    a|2 a<<1 a>>1 np.invert(a) np.nan_to_num(a) np.reciprocal(a) np.signbit(a)
    np.fix(a) np.nonzero(a)[0] np.isin(a,a) np.pad(a,1) np.polyval(a,2.0)
    np.vander(a) scipy.special.expit(a) np.sum(a,axis=0) np.sum(a,axis=1)
    np.sum(a,axis=-1,keepdims=True) np.mean(a,axis=0) np.max(a,axis=1)
    np.argmax(a,axis=0) np.cumsum(a,axis=1) np.cumprod(a,axis=0) np.sort(a,axis=0)
    np.argsort(a,axis=1,kind="stable") np.diff(a,axis=0) np.any(a,axis=1)
    np.std(a,axis=0) np.median(a,axis=1) np.ptp(a,axis=0) np.flip(a,axis=1)
    np.roll(a,1,axis=1) np.repeat(a,2,axis=0) np.concatenate([a,a],axis=1)
    np.stack([a,a],axis=1) np.vstack([a,a]) np.hstack([a,a]) a@a.T a.T@a np.trace(a)
    np.diagonal(a) np.diag(a) np.tril(a) np.triu(a,1) np.linalg.norm(a,axis=1)
    np.transpose(a) np.swapaxes(a,0,1) np.take(a,[0],axis=0) np.prod(a,axis=(0,1))
    np.count_nonzero(a,axis=0) a[:,0] a[0,:] a[::-1,::-1] a[1:,:-1] a[a>0] a.sum(0)
    a.mean(1) np.kron(a,a) np.einsum("ij->j",a) np.einsum("ij,ij->",a,a)
    np.tensordot(a,a,axes=2) np.nansum(a,axis=0) np.quantile(a,0.5,axis=0)
    np.average(a,axis=0) np.corrcoef(a) np.ravel(a.T)
    a.reshape(a.shape[1],a.shape[0]) np.delete(a,0,axis=0) np.insert(a,0,1,axis=0)
    np.append(a,a,axis=0) np.broadcast_to(a,(2,)+a.shape) np.moveaxis(a,0,1)
    np.column_stack([a,a]) np.all(a>0,axis=1) np.cross(a[:,:3],a[:,:3])
    np.inner(a,a) np.gradient(a)[0] np.trapezoid(a,axis=0) np.linalg.matrix_rank(a)
    a.T.sum(1) a.max(axis=0,keepdims=True) np.nanmax(a,axis=1) np.argmin(a,axis=1)
    np.nanargmax(a) np.nanstd(a,axis=0) np.min(a,axis=0) np.delete(a,1)
    np.linalg.inv(a) np.linalg.det(a) np.linalg.slogdet(a)[1]
    np.linalg.cholesky(a@a.T+np.eye(3)) np.linalg.norm(a,2) np.linalg.norm(a,1)
    np.linalg.norm(a,"fro") np.linalg.norm(a,np.inf) np.trapezoid(a,dx=0.5)
    np.linalg.svdvals(a) np.linalg.pinv(a) np.linalg.matrix_power(a,2) np.polyder(a)
    np.roll(a,1) np.full(3,a) np.full((2,3),a) np.squeeze(a[None],0)
    np.atleast_2d(a) np.atleast_3d(a) np.polyval([1.0,2.0],a) np.nanmedian(a)
    np.nanquantile(a,0.4) np.linalg.norm(a,axis=0) np.moveaxis(a,0,-1)
    np.swapaxes(a,0,-1) np.expand_dims(a,1) scipy.linalg.norm(a)
    scipy.special.logsumexp(a) scipy.special.softmax(a) np.array([a,1.0])
    np.zeros(3)+a np.eye(3)*a np.ones((2,3))@a a.trace() a.diagonal() a.squeeze(0)
    min(a) max(a) sum(a) sorted(a) list(a)[0] any(a) all(a) pow(a,2) round(a)
    float(a) int(a) bool(a) np.nanargmin(a) np.nancumprod(a)
    """
)

# Of numbers and arrays `a`, `b` and `c`, and of indices `i`.
PAIRS = forms(
    """
    np.searchsorted(a,b) np.interp(a,b,b) np.interp(a,b,c) np.quantile(a,b)
    np.average(a,weights=b) np.cov(a,b) np.corrcoef(a,b) np.bincount(i,b)
    np.digitize(a,b) np.histogram(a,weights=b)[0] np.append(a,b)
    np.append(a,b,axis=0) np.insert(a,1,b) np.isclose(a,b) np.allclose(a,b)
    np.array_equal(a,b) np.linalg.solve(a,b) np.matmul(a,b) a@b np.dot(a,b)
    np.inner(a,b) np.vdot(a,b) np.outer(a,b) np.cross(a,b) np.convolve(a,b)
    np.correlate(a,b) np.correlate(a,b,"full") np.gradient(a,b) np.trapezoid(a,b)
    np.linalg.lstsq(a,b)[0] np.meshgrid(a,b)[0] np.polyval(a,b) np.polyfit(a,b,1)
    np.tensordot(a,b,axes=1) np.kron(a,b) np.add.outer(a,b) np.concatenate((a,b))
    np.stack((a,b)) np.vstack((a,b)) np.hstack((a,b)) np.column_stack((a,b))
    np.take(a,i) np.take(a,i,axis=0) np.where(a>0,a,b) np.maximum(a,b)
    np.clip(a,b,c) a+b a[i] np.repeat(a,i) np.linspace(a,b,3) np.full_like(a,b)
    np.broadcast_to(a,b.shape) np.einsum("i,i->",a,b) np.einsum("ij,j->i",a,b)
    np.heaviside(a,b) np.hypot(a,b) np.logaddexp(a,b) np.array([a,b]) [a,b][1]
    a.dot(b) a.take(i) a.searchsorted(b) a.clip(b,c) max(a,b) divmod(a,b) a//b a%b
    a**b a@b.T b.T@a np.logspace(a,b,3) np.geomspace(abs(a)+1,abs(b)+1,3)
    """
)

RNG = np.random.default_rng(3)
FLOATS = np.array([0.0, 1.5, -2.5, 3.25, 7.0, -7.75, 0.5, 2.0, -1.0])
KINDS: dict[str, Callable[[int], Any]] = {
    "float": lambda n: RNG.choice(FLOATS, n),
    "single": lambda n: RNG.normal(size=n).astype(np.float32),
    "int": lambda n: RNG.integers(-30, 30, n),
    "bool": lambda n: RNG.integers(0, 2, n).astype(bool),
}
SHAPES = [(0,), (1,), (5,), (8,), (3, 4), (1, 3), (0, 3), (3, 0), (4, 4), (2, 3, 2)]

# Where ours has another answer: what is in the form, the error of NumPy's if there is
# one, and of which arrays.
KNOWN: list[tuple[str, str, Callable[[Any], Any]]] = [
    # NumPy has no quantile of nothing, and no average.
    ("quantile|percentile", "IndexError", lambda a: a.size == 0),
    ("average", "ZeroDivisionError", lambda a: a.size == 0),
    # Of one row it is a matrix, too, as the number of rows is not known.
    ("cov|corrcoef", "", lambda a: np.ndim(a) == 2 and len(a) == 1),
    ("matrix_power|pinv", "", lambda a: a.dtype.kind in "ib"),  # They are floats.
    ("sum", "", lambda a: a.size == 0),  # Of floats it is 0.0.
    ("reciprocal", "", lambda a: a.dtype.kind in "ib"),  # Of 0 there is none.
    ("logsumexp", "", lambda a: a.size == 0),  # It is a `ValueError`.
    # They add truth values as integers.
    ("einsum|tensordot", "", lambda a: a.dtype.kind == "b"),
    ("cross", "", lambda a: np.shape(a)[-1] == 2),  # There have to be 3.
]


def written(form: str, names: str, folder: Path) -> cl.Function[..., Any]:
    """The function of a form, in a file of its own.

    What several arrays have in common is compiled once for all of them.
    """
    path = folder / "form.py"
    text = (
        "import math\nimport numpy as np\nimport scipy.special\nimport scipy.linalg\n"
    )
    path.write_text(f"{text}\n\ndef f({names}):\n    return {form}\n")
    spec = importlib.util.spec_from_file_location("form", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cl.jit(module.f)


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except cl.CompileError:
            return cl.CompileError
        except Exception as error:
            return type(error)


def alike(ours: Any, numpys: Any, is_bool: bool) -> bool:
    """Whether two values are the same, but for rounding and the width of floats."""
    if isinstance(numpys, tuple | list):
        return len(ours) == len(numpys) and all(
            alike(*pair, is_bool) for pair in zip(ours, numpys, strict=True)
        )
    ours, numpys = np.asarray(ours), np.asarray(numpys)
    same_kind = is_bool or ours.dtype.kind == numpys.dtype.kind
    width = min(ours.itemsize, numpys.itemsize) if numpys.dtype.kind == "f" else 8
    near = 1e-3 if width < 4 else 1e-4 if width < 8 else 1e-9
    return (
        ours.shape == numpys.shape
        and same_kind
        and np.allclose(ours, numpys, rtol=near, atol=near, equal_nan=True)
    )


def check(function: cl.Function[..., Any], args: tuple[Any, ...], form: str) -> None:
    numpys = outcome(function.py_func, args)
    ours = outcome(function, args)
    if ours is cl.CompileError:
        return
    raises = isinstance(numpys, type), isinstance(ours, type)
    if all(raises) or (raises[0] and issubclass(numpys, TypeError)):
        return
    name = numpys.__name__ if raises[0] else ""
    if any(re.search(k, form) and name == e and of(args[0]) for k, e, of in KNOWN):
        return
    is_bool = any(np.asarray(arg).dtype == bool for arg in args)
    assert not any(raises), (args, numpys, ours)
    assert alike(ours, numpys, is_bool), (args, numpys, ours)


@pytest.mark.sweep(share=160)
@pytest.mark.parametrize(
    ("form", "kind"),
    [
        pytest.param(form, kind, marks=marks(f"{form} of {kind}", 4, "forms"))
        for form in FORMS
        for kind in KINDS
    ],
)
def test_of_an_array(form: str, kind: str, tmp_path: Path) -> None:
    function = written(form, "a", tmp_path)
    for shape in SHAPES:
        check(function, (KINDS[kind](int(np.prod(shape))).reshape(shape),), form)


ARGUMENTS = [
    2.0,
    np.array([1.0, 2.5, 4.0]),
    np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]]),
    np.arange(12.0).reshape(2, 2, 3) + 1.0,
]
INDICES = [1, np.array([2, 0, 1]), np.array([[2, 0], [1, 1]])]


def arguments(form: str) -> Iterator[tuple[Any, ...]]:
    """Those of all numbers of axes."""
    has_b, has_i = (re.search(rf"(?<![\w.]){n}(?!\w)", form) for n in "bi")
    for a, b, i in itertools.product(
        ARGUMENTS,
        ARGUMENTS if has_b else ARGUMENTS[:1],
        INDICES if has_i else INDICES[:1],
    ):
        yield a, b, b + 2.0, i


@pytest.mark.sweep(share=40)
@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=marks(form, 4, "several")) for form in PAIRS]
)
def test_of_several(form: str, tmp_path: Path) -> None:
    function = written(form, "a, b, c, i", tmp_path)
    for args in arguments(form):
        check(function, args, form)
