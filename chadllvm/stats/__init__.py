"""Distributions, written in the compiled language, by SciPy's names and parameters.

    from chadllvm import stats

    @cl.jit
    def f(x: cl.f64[:], mean: float, deviation: float) -> float:
        return np.sum(stats.norm.logpdf(x, mean, deviation))

In compiled code SciPy's own mean these: `scipy.stats.norm.logpdf(x, mean, deviation)`.
All are differentiated by all parameters, and broadcast over arrays. What is outside of
the support has the density 0 (its logarithm is -inf); parameters that there are not
give NaN.
"""

from chadllvm.stats.continuous import (
    beta,
    cauchy,
    expon,
    gamma,
    gumbel_r,
    halfcauchy,
    halfnorm,
    halft,
    invgamma,
    laplace,
    logistic,
    lognorm,
    norm,
    pareto,
    skewnorm,
    t,
    vonmises,
    weibull_min,
)
from chadllvm.stats.discrete import (
    bernoulli,
    bernoulli_logit,
    binom,
    nbinom,
    poisson,
    poisson_log,
    zero_inflated_binom,
    zero_inflated_nbinom,
    zero_inflated_poisson,
)
from chadllvm.stats.multivariate import (
    categorical,
    dirichlet,
    lkj,
    mixture,
    multinomial,
    multivariate_normal,
    wishart,
)

__all__ = [
    "bernoulli",
    "bernoulli_logit",
    "beta",
    "binom",
    "categorical",
    "cauchy",
    "dirichlet",
    "expon",
    "gamma",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "halft",
    "invgamma",
    "laplace",
    "lkj",
    "logistic",
    "lognorm",
    "mixture",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "poisson_log",
    "skewnorm",
    "t",
    "vonmises",
    "weibull_min",
    "wishart",
    "zero_inflated_binom",
    "zero_inflated_nbinom",
    "zero_inflated_poisson",
]
