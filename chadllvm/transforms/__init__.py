"""Constrained parameters as functions of all vectors, with their Jacobians.

    from chadllvm import stats, transforms

    @cl.jit
    def log_density(u: cl.f64[:]) -> float:
        shares = transforms.simplex.constrain(u)
        prior = stats.dirichlet.logpdf(shares, np.ones(len(shares)))
        return prior + transforms.simplex.log_jacobian(u)

See `chadllvm/prelude/constraints.py` for what each of them is.
"""

from chadllvm.prelude.constraints import (
    bounded,
    cholesky_correlation,
    covariance,
    ordered,
    positive,
    simplex,
    sum_to_zero,
    unit_vector,
)

__all__ = [
    "bounded",
    "cholesky_correlation",
    "covariance",
    "ordered",
    "positive",
    "simplex",
    "sum_to_zero",
    "unit_vector",
]
