"""Compiled functions in other people's tools: a module for each, loaded if asked for.

from chadllvm.interop.torch import torch_function
from chadllvm.interop.jax import jax_function
from chadllvm.interop.pytensor import pytensor_op
from chadllvm.interop.scipy import objective
from chadllvm.interop.sklearn import FittedByLoss
from chadllvm.interop.dask import sum_value_and_grad    # cl.distributed
"""
