"""NumPy's functions of arrays, their methods, and linear algebra."""

from __future__ import annotations

from tests.campaign.table import calls

OF_FLOATS = "sum mean prod max min amax amin ptp std var"
calls("Reductions", "float", *(f"np.{f}({{vec}})" for f in OF_FLOATS.split()))
calls(
    "Reductions",
    "float",
    *(f"{{mat}}.{f}()" for f in ["sum", "mean", "max", "min", "std", "var"]),
    weight=0.4,
)
calls(
    "Reductions",
    "float",
    "np.sum({part})",
    "np.sum({rect} ** 2)",
    "np.max({part})",
    "np.mean({rect})",
    "np.prod({part})",
    "sum({vec})",
    "max({vec})",
    "min({part})",
    "np.var({vec}, ddof=1)",
    "np.sum({vec}, where={mask}, initial={float})",
    "np.max({vec}, where={mask}, initial={float})",
    "np.min({part}, initial={float})",
    "np.prod({vec}, where={mask})",
    "np.mean({vec}, where={mask})",
    "np.std({vec} + 0.1 * np.arange(len({vec})))",
    "math.prod({vec})",
    "math.fsum({vec})",
    "sum({vec}, {float})",
    "{vec}.prod()",
)
calls(
    "Reductions",
    "vec",
    "np.sum({mat}, axis=0)",
    "np.sum({mat}, axis=1)",
    "{mat}.mean(axis=-1)",
    "np.max({mat}, axis=0)",
    "np.min({mat}, axis=1)",
    "np.prod({mat}, axis=0)",
    "np.ptp({mat}, axis=1)",
    "np.sum({mat}, axis=0, keepdims=True)[0]",
    "np.var({mat}, axis=1)",
    "np.sum({mat}[:, None], axis=(0, 1))",
)
calls(
    "Reductions",
    "int",
    "np.argmax({vec})",
    "{vec}.argmin()",
    "np.argmin({vec})",
    "{vec}.argmax()",
    "np.count_nonzero({mask})",
    "np.sum({ints})",
    "np.sum({mask})",
    "int(np.max({ints}))",
    "sum({mask})",
    "np.prod({ints} % 3)",
    weight=0.5,
)
calls(
    "Reductions",
    "ints",
    "np.argmax({mat}, axis=0)",
    "np.count_nonzero({mat} > 0.0, axis=1)",
)
calls(
    "Reductions",
    "bool",
    "np.any({mask})",
    "np.all({vec} > -1.0)",
    "{mask}.any()",
    "{mask}.all()",
    "any({mask})",
    "all({mask})",
    weight=0.4,
)
calls(
    "Reductions",
    "mask",
    "np.any({mat} > 1.0, axis=0)",
    "np.all({mat} < 1.0, axis=1)",
    weight=0.4,
)
calls(
    "Running results",
    "vec",
    "np.cumsum({vec})",
    "np.cumprod({vec})",
    "{vec}.cumsum()",
    "{vec}.cumprod()",
)
calls(
    "Running results",
    "mat",
    "np.cumsum({mat}, axis=1)",
    "np.cumprod({mat}, axis=0)",
    weight=0.4,
)
calls(
    "Running results",
    "part",
    "np.diff({vec})",
    "np.diff({vec}, n=2)",
    "np.cumsum({mat})",
)
calls("Running results", "rect", "np.diff({mat}, axis=0)", weight=0.4)
calls(
    "Products",
    "float",
    "np.dot({vec}, {vec})",
    "{vec} @ {vec}",
    "{vec}.dot({vec})",
    "np.inner({vec}, {vec})",
    "np.vdot({mat}, {mat})",
    "np.trace({mat})",
    "{mat}.trace()",
    "np.trace({mat}, offset=1)",
)
calls(
    "Products",
    "vec",
    "{mat} @ {vec}",
    "{vec} @ {mat}",
    "np.dot({mat}, {vec})",
    "np.matmul({mat}, {vec})",
)
calls(
    "Products",
    "mat",
    "{mat} @ {mat}",
    "np.outer({vec}, {vec})",
    "{rect}.T @ {rect} if False else {mat}",
    weight=0.6,
)
calls("Products", "part", "np.cross(np.ones(3), {float} * np.arange(3.0))", weight=0.3)
calls(
    "New arrays",
    "vec",
    "np.zeros(len({vec}))",
    "np.ones(len({vec}))",
    "np.full(len({vec}), {float})",
    "np.zeros_like({vec})",
    "np.ones_like({vec})",
    "np.full_like({vec}, {float})",
    "np.linspace(0.0, {float}, len({vec}))",
    "np.arange(len({vec})) * {float}",
    "np.arange(0.0, len({vec}))",
    "np.array({vec})",
    "np.asarray({vec})",
    "np.asanyarray(np.ascontiguousarray({vec}))",
    "np.copy({vec})",
    "{vec}.copy()",
    "np.zeros_like({vec}, dtype=float)",
    "np.diag({mat})",
    "np.diagonal({mat})",
    "{mat}.diagonal()",
    weight=0.5,
)
calls(
    "New arrays",
    "mat",
    "np.eye(len({vec}))",
    "np.identity(len({vec}))",
    "np.diag({vec})",
    "np.tril({mat})",
    "np.triu({mat}, k=1)",
    "np.zeros((len({vec}), len({vec})))",
    "np.full((len({vec}), len({vec})), {float})",
    weight=0.5,
)
calls(
    "New arrays",
    "rect",
    "np.zeros({small})[:, None]",
    "np.ones(({small}, {small1}))",
    "np.full((2, {small1}), {float})",
    "np.zeros((0, {small1}))",
    "np.empty_like({rect}[:0])",
    "np.empty((0, 3))",
    "np.ndarray((0, 2))",
    weight=0.4,
)
calls(
    "New arrays",
    "part",
    "np.array([{float}, {float}, {float}])",
    "np.linspace({float}, 1.0, {small})",
    "np.arange({small}) * 0.5",
    "np.zeros({small})",
    "np.array(({float}, 1))",
)
calls(
    "New arrays",
    "ints",
    "np.arange(len({vec}))",
    "np.zeros(len({vec}), dtype=int)",
    "np.full(len({vec}), {int})",
    "np.zeros_like({ints})",
)
calls(
    "New arrays",
    "mask",
    "np.ones(len({vec}), dtype=bool)",
    "np.full(len({vec}), {bool})",
    weight=0.4,
)
calls(
    "Errors at run time",
    "part",
    "np.zeros({int})",
    "np.ones({int} % 9 - 2)",
    "np.repeat({vec}, {int} % 6)",
    weight=0.1,
)
calls(
    "Integers",
    "float",
    "np.sum(np.zeros({big}))",
    "sum(np.ones({big})[:3])",
    weight=0.05,
)
calls("Integers", "big", "2 ** 45", "{int} * 2 ** 60", "2 ** 62 + {int}", "-(2 ** 61)")
calls(
    "Integers",
    "part",
    "{vec}[{huge}:]",
    "{vec}[:{huge}]",
    "{vec}[{huge}:{huge}:{step}]",
    "{vec}[::{huge}]",
    weight=0.15,
)
calls(
    "Integers",
    "huge",
    "9223372036854775807",
    "-9223372036854775807",
    "2 ** 62",
    "(-(2 ** 62))",
)
calls(
    "Shapes and order",
    "part",
    "np.ravel({mat})",
    "{mat}.flatten()",
    "{mat}.ravel()",
    "np.reshape({mat}, -1)",
    "{rect}.reshape(-1)",
    "np.repeat({vec}, 2)",
    "{vec}.repeat({small})",
    "np.tile({vec}, 2)",
    "np.take({vec}, np.array([0, 0]))",
    "np.expand_dims({vec}, 0)[0]",
    weight=0.6,
)
calls(
    "Shapes and order",
    "vec",
    "np.flip({vec})",
    "np.roll({vec}, {int} % 7)",
    "np.squeeze({vec}[:, None], axis=1)",
    "{vec}[None].squeeze(axis=0)",
    "np.broadcast_to({vec}[None], (1, len({vec})))[0]",
    "{vec}.take({ints} % len({vec}))",
    "np.reshape({vec}, (len({vec}), 1))[:, 0]",
)
calls(
    "Shapes and order",
    "mat",
    "np.transpose({mat})",
    "{mat}.transpose()",
    "np.swapaxes({mat}, 0, 1)",
    "{mat}.swapaxes(0, 1)",
    "np.moveaxis({mat}, 0, 1)",
    "np.flip({mat}, axis=1)",
    "np.roll({mat}, 1, axis=0)",
    "np.broadcast_to({vec}, (len({vec}), len({vec}))) * 1.0",
    "{mat}.reshape(len({vec}), len({vec}))",
    "np.repeat({vec}[None], len({vec}), axis=0)",
    weight=0.5,
)
calls(
    "Joined",
    "part",
    "np.concatenate(({vec}, {part}))",
    "np.hstack(({part}, {vec}))",
    "np.stack(({vec}, {vec}))[0, {end}:]",
    "np.concatenate([{part}, {part}])",
)
calls(
    "Joined",
    "rect",
    "np.stack(({vec}, {vec}))",
    "np.vstack(({vec}, {vec}))",
    "np.column_stack(({vec}, {vec}))",
    "np.concatenate(({mat}, {mat}), axis=1)",
    "np.stack([{vec}, {vec}], axis=1)",
    "np.hstack(({mat}, {mat}))",
)
calls(
    "Sorted and found",
    "vec",
    "np.sort({vec})",
    "{vec}[np.argsort({vec}, kind='stable')]",
    "{vec}[{vec}.argsort(kind='stable')]",
)
calls(
    "Searched",
    "vec",
    "np.interp({vec}, np.array([-1.0, 0.0, 2.0]), np.array([1.0, 0.5, {float}]))",
    "np.interp({vec}, np.sort({vec}), {vec}, left=0.5)",
)
calls("Sorted and found", "mat", "np.sort({mat}, axis=0)", weight=0.3)
calls(
    "Sorted and found",
    "part",
    "{vec}[np.nonzero({mask})[0]]",
    "{vec}[np.flatnonzero({vec} > 0.5)]",
    "{vec}[{mask}.nonzero()[0]]",
)
calls(
    "Searched",
    "int",
    "np.searchsorted(np.sort({vec}), {float}, side='right')",
    "np.searchsorted(np.sort({vec}), {float})",
    "np.sort({vec}).searchsorted({float})",
    weight=0.4,
)
calls(
    "Searched",
    "float",
    "np.interp({float}, np.arange(len({vec})), {vec})",
    weight=0.4,
)
calls(
    "Element by element",
    "ints",
    "np.round({ints}, -1)",
    "np.reciprocal(1 + abs({ints}) % 3)",
    weight=0.2,
)
calls(
    "Element by element",
    "vec",
    "np.clip({vec}, -0.75, 0.75)",
    "{vec}.clip(-1.0, {lit})",
    "np.clip({vec}, {float}, 2.0)",
    "np.round({vec}, 1)",
    "np.around({vec})",
    "{vec}.round()",
    "np.positive({vec})",
    "np.add({vec}, {float})",
    "np.subtract({vec}, {vec})",
    "np.multiply({vec}, {vec})",
    "np.divide({vec}, 2.0 + np.abs({vec}))",
    "np.floor_divide({vec}, 0.75)",
    weight=0.5,
)
calls(
    "Element by element",
    "vec",
    "np.where({mask}, {vec}, {vec})",
    "np.where({vec} > 0.0, np.sqrt(np.abs({vec})), {float})",
    "np.where({vec} > 0.0, np.log({vec}), {vec})",
    weight=1.5,
)
calls(
    "Element by element",
    "mat",
    "np.where({mat} > {vec}, {mat}, {float})",
    "np.clip({mat}, -1.0, 1.0)",
    "np.minimum({mat}, {vec})",
)
calls(
    "Element by element",
    "mask",
    "np.less({vec}, {float})",
    "np.less_equal({vec}, {vec})",
    "np.greater({vec}, 0.25)",
    "np.greater_equal({vec}, {vec})",
    "np.equal({ints}, {int})",
    "np.not_equal({ints}, 1)",
    "np.logical_and({mask}, {mask})",
    "np.logical_or({mask}, {vec} > 1.0)",
    "np.logical_xor({mask}, {mask})",
    "np.logical_not({mask})",
    weight=0.3,
)
calls(
    "Element by element",
    "ints",
    "np.bitwise_and({ints}, 5)",
    "np.bitwise_or({ints}, {ints})",
    "np.bitwise_xor({ints}, 3)",
    "np.left_shift({ints}, {small})",
    "np.right_shift({ints}, 1)",
    "np.invert({ints})",
    "{vec}.astype(int)",
    "np.where({mask}, {ints}, {int})",
    weight=0.3,
)
calls(
    "Element by element",
    "vec",
    "{ints}.astype(float)",
    "{mask}.astype(np.float64)",
    weight=0.4,
)
calls(
    "Element by element",
    "float",
    "np.float64({int})",
    # An array without dimensions in Python, which `+=` would change for all its names.
    "(np.where({test}, {float}, {float}) + 0.0)",
    weight=0.2,
)
calls("Element by element", "int", "np.int64({int})", weight=0.1)
calls("Element by element", "bool", "np.bool_({int})", weight=0.1)
CALM = "(np.tanh({mat}) + 9.0 * np.eye(len({vec})))"
DEFINITE = "(0.1 * {vec}[:, None] * {vec} + np.eye(len({vec})))"
calls(
    "Linear algebra",
    "vec",
    f"np.linalg.solve({CALM}, {{vec}})",
    f"linalg.solve({CALM}, {{vec}})",
    f"linalg.solve_triangular({CALM}, {{vec}}, lower=True)",
    weight=0.3,
)
calls(
    "Linear algebra",
    "mat",
    f"np.linalg.inv({CALM})",
    f"linalg.inv({CALM})",
    f"np.linalg.cholesky({DEFINITE})",
    weight=0.3,
)
calls(
    "Linear algebra",
    "float",
    f"np.linalg.det({CALM}) * 1e-3",
    f"linalg.det({CALM}) * 1e-3",
    f"np.linalg.slogdet({CALM})[1]",
    "np.linalg.norm({vec})",
    "np.linalg.norm({mat})",
    "np.linalg.norm({vec}, 1)",
    "np.linalg.norm({vec}, np.inf)",
    "linalg.norm({vec})",
    weight=0.3,
)
calls(
    "Linear algebra",
    "mat",
    f"linalg.cholesky({DEFINITE}, lower=True)",
    weight=0.2,
)
calls(
    "Linear algebra",
    "vec",
    f"linalg.cho_solve((linalg.cho_factor({DEFINITE}, lower=True)[0], True), {{vec}})",
    weight=0.2,
)
calls("Linear algebra", "vec", "np.linalg.norm({mat}, axis=0)", weight=0.2)
calls(
    "Statistics",
    "float",
    "np.median({vec})",
    "np.median({mat})",
    "np.quantile({vec}, 0.3)",
    "np.percentile({part}, 70.0)",
    "np.average({vec}, weights=1.0 + {vec} ** 2)",
    "np.cov({vec})",
    weight=0.3,
)
calls(
    "Statistics",
    "vec",
    "np.median({mat}, axis=0)",
    "np.quantile({mat}, 0.25, axis=1)",
    "np.atleast_2d(np.cov({mat}))[0]",
    "np.average({mat}, axis=1, weights=1.0 + {vec} ** 2)",
    weight=0.3,
)
calls(
    "Statistics",
    "part",
    "np.unique({vec})",
    "np.histogram({vec}, 4)[1]",
    "np.bincount({ints} % 5, weights={vec})",
    "np.quantile({vec}, np.array([0.1, 0.5]))",
    weight=0.3,
)
calls(
    "Statistics",
    "int",
    "np.bincount({ints} % 7)[0]",
    "np.digitize({float}, np.array([-1.0, 0.0, 1.0]))",
    "np.histogram({vec}, 3)[0][1]",
    "len(np.unique({ints} % 3))",
    weight=0.2,
)
calls(
    "Without NaN",
    "float",
    "np.nansum({vec})",
    "np.nanmean(np.where({mask}, math.nan, {vec}))",
    "np.nanmax({mat})",
    "np.nanstd({vec})",
    "np.nanmedian({vec})",
    "np.nan_to_num({float} / {float})",
    weight=0.3,
)
calls(
    "Without NaN", "vec", "np.nansum({mat}, axis=0)", "np.nancumsum({vec})", weight=0.2
)
calls(
    "Products of several arrays",
    "mat",
    "np.einsum('ij,jk->ik', {mat}, {mat})",
    "np.einsum('ij,kj->ki', {mat}, {mat})",
    "np.einsum('ij,jk,kl->il', {mat}, {mat}, {mat})",
    "np.tensordot({mat}, {mat}, axes=1)",
    weight=0.2,
)
calls(
    "Products of several arrays",
    "vec",
    "np.einsum('ij,j->i', {mat}, {vec})",
    "np.einsum('ij,ij->j', {mat}, {mat})",
    "np.einsum('ii->i', {mat})",
    weight=0.3,
)
calls(
    "Products of several arrays",
    "rect",
    "np.kron({mat}, np.array([[1.0, 2.0]]))",
    "np.kron({mat}, {vec})",
    weight=0.2,
)
calls(
    "Grids, polynomials, margins",
    "mat",
    "np.meshgrid({vec}, {vec})[0]",
    "np.vander({vec} * 0.1)",
    weight=0.3,
)
calls(
    "Sizes, elements put in and taken out, comparisons",
    "int",
    "np.size({vec})",
    "np.shape({mat})[0]",
    weight=0.2,
)
calls(
    "Sizes, elements put in and taken out, comparisons",
    "vec",
    "np.atleast_1d({float})",
    "np.atleast_3d({vec})[0, :, 0]",
    "np.append({vec}, {float})",
    "np.append({vec}, {part})",
    "np.insert({vec}, 0, {float})",
    "np.delete(np.append({vec}, 1.0), -1)",
    "np.insert({mat}, 0, {float})",
    "np.insert({mat}, 0, {float}, axis=1)[:, 0]",
    "np.delete(np.vstack(({mat}, {mat})), 0, axis=0)[0]",
    "np.where(np.isin({vec}, {part}), {vec}, 0.0)",
    weight=0.3,
)
calls(
    "Sizes, elements put in and taken out, comparisons",
    "bool",
    "np.allclose({vec}, {vec}, 1e-3)",
    "bool(np.isclose({float}, {float}))",
    "math.isclose({float}, {float}, abs_tol=0.1)",
    "bool(np.isin({int}, {ints}))",
    "np.array_equal({vec}, {part})",
    weight=0.2,
)
calls(
    "Grids, polynomials, margins",
    "vec",
    "np.polyval({part}, {vec} * 0.1)",
    "np.polyder({vec})",
    "np.polyfit(np.arange(len({vec})) * 1.0, {vec}, 1)",
    "np.logspace(0.0, {float} % 2.0, len({vec}))",
    weight=0.2,
)
calls(
    "Grids, polynomials, margins",
    "part",
    "np.pad({vec}, 2)",
    "np.pad({vec}, (1, {small}), mode='edge')",
    "np.pad({vec}, 1, mode='wrap')",
    "np.pad({vec}, 2, mode='reflect')",
    weight=0.3,
)
calls(
    "Grids, polynomials, margins",
    "rect",
    "np.pad({mat}, ((1, 0), (0, 2)), mode='symmetric')",
    "np.pad({mat}, 1, constant_values={float})",
    weight=0.2,
)
calls(
    "Sampled functions",
    "vec",
    "np.convolve({vec}, np.array([0.5, 1.0, 0.25]), mode='same')",
    "np.gradient({vec})",
    "np.gradient({vec}, 0.5, edge_order=2)",
    "np.trapezoid({mat})",
    weight=0.3,
)
calls(
    "Sampled functions",
    "part",
    "np.convolve({vec}, {vec})",
    "np.correlate({vec}, {vec}, 'full')",
    weight=0.2,
)
calls("Sampled functions", "mat", "np.gradient({mat}, axis=1)", weight=0.2)
calls("Sampled functions", "float", "np.trapezoid({vec}, dx=0.1)", weight=0.2)
calls(
    "Methods of elementwise functions",
    "mat",
    "np.subtract.outer({vec}, {vec})",
    "np.maximum.outer({vec}, {vec})",
    weight=0.3,
)
calls(
    "Methods of elementwise functions",
    "vec",
    "np.maximum.accumulate({vec})",
    "np.add.reduce({mat})",
    "np.minimum.accumulate({mat})[0]",
    weight=0.3,
)
calls(
    "Factorisations",
    "vec",
    f"np.linalg.eigvalsh({DEFINITE})",
    f"np.linalg.svd({CALM}, compute_uv=False)",
    f"np.linalg.lstsq({CALM}, {{vec}})[0]",
    weight=0.2,
)
calls(
    "Factorisations",
    "mat",
    f"np.linalg.qr({CALM})[1]",
    f"np.linalg.pinv({CALM})",
    "np.linalg.matrix_power({mat} * 0.3, 3)",
    "linalg.expm({mat} * 0.1)",
    weight=0.2,
)
calls(
    "Statistics",
    "part",
    "np.histogram_bin_edges({vec}, 3)",
    "np.atleast_2d(np.corrcoef({mat}))[0]",
    weight=0.2,
)
calls(
    "Without NaN",
    "float",
    "np.nanmin({vec})",
    "np.nanprod({vec})",
    "np.nanvar({mat})",
    "np.nanquantile({vec}, 0.4)",
    "np.nanpercentile({vec}, 40.0)",
    weight=0.2,
)
calls("Without NaN", "int", "np.nanargmax({vec})", "np.nanargmin({vec})", weight=0.2)
calls("Without NaN", "vec", "np.nancumprod({vec})", weight=0.2)
calls(
    "Grids, polynomials, margins",
    "part",
    "np.geomspace(1.0, 2.0 + abs({float}), 4)",
    weight=0.2,
)
calls(
    "Factorisations",
    "float",
    f"np.linalg.cond({CALM})",
    f"np.linalg.svdvals({CALM})[0]",
    f"np.linalg.eigh({DEFINITE})[0][-1]",
    weight=0.2,
)
calls("Factorisations", "int", f"np.linalg.matrix_rank({CALM})", weight=0.1)
calls(
    "Linear algebra",
    "rect",
    f"np.linalg.solve(np.stack(({CALM}, {CALM})), {{vec}})",
    f"(np.stack(({CALM}, {CALM})) @ {{vec}})",
    weight=0.2,
)
