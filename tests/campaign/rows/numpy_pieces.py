"""NumPy's functions that turn, cut, select, window and number elements of arrays."""

from __future__ import annotations

from tests.campaign.table import calls

TURNED = "Turned, cut into pieces, put beside each other"
calls(
    TURNED,
    "mat",
    "np.fliplr({mat})",
    "np.flipud({mat})",
    "np.rot90({mat}, {small})",
    "np.rot90({mat})",
    "np.matrix_transpose({mat})",
    "np.linalg.matrix_transpose({mat})",
    "{mat} * np.tri(len({vec}))",
    "np.diagflat({vec})",
    "np.dstack(({mat}, {mat}))[:, :, 0]",
    weight=0.3,
)
calls(
    TURNED,
    "part",
    "np.split({vec}, 1)[0]",
    "np.array_split({vec}, 2)[1]",
    "np.hsplit({mat}, (1,))[0][:, 0]",
    "np.vsplit({mat}, 1)[0][0]",
    "np.trim_zeros({part})",
    "np.ediff1d({mat})",
    "np.dstack(({vec}, {vec}))[0, :, 1]",
    "np.broadcast_arrays({vec}, {float})[1]",
    "np.apply_along_axis(lambda u1: u1 * u1, 0, {mat})[0]",
    "np.fromiter((u1 * 0.5 for u1 in {vec}), dtype=float)",
    "np.roll({mat}, {small})[0]",
    "np.resize({vec}, len({vec}))",
    "{mat}[np.ix_(np.arange(1), np.arange(len({vec})))][0]",
    "np.block([[{mat}, {mat}]])[0, :len({vec})]",
    weight=0.3,
)
calls(
    "Selected",
    "vec",
    "np.select(({mask}, {vec} > 0.5), ({vec}, {vec}), {float})",
    "np.select([{mask}, {vec} > 0.0], [{vec}, {vec} * {float}])",
    "np.choose({ints} % 2, ({vec}, {vec}))",
    "np.take_along_axis({mat}, np.argsort({mat}, axis=1), 1)[:, 0]",
    "np.take_along_axis({vec}, np.argsort({vec}), 0)",
    "np.sort(np.partition({vec}, 0))",
    "np.sort({vec}[np.argpartition({vec}, 0)])",
    "{vec}[np.lexsort(({vec}, {ints}))]",
    weight=0.3,
)
calls(
    "Selected",
    "part",
    "np.extract({mask}, {vec})",
    "np.compress({mask}, {vec})",
    "np.compress({mask}, {mat}, 1)[0]",
    "np.union1d({part}, {part})",
    "np.setxor1d({part}, {part})",
    "1.0 * np.intersect1d({ints}, {ints})",
    "1.0 * np.setdiff1d({ints}, {ints})",
    "1.0 * np.argwhere({mask})[:, 0]",
    weight=0.3,
)
calls(
    "Elementwise, of others",
    "vec",
    "np.divmod({vec}, 0.7)[1]",
    "np.conjugate({vec})",
    "np.real({vec}) + np.imag({vec})",
    "np.angle({vec}, deg=True)",
    "np.where(np.isposinf({vec}) | np.isneginf({vec}), 0.0, {vec})",
    weight=0.3,
)
calls(
    "Products of several arrays",
    "vec",
    "np.matvec({mat}, {vec})",
    "np.vecmat({vec}, {mat})",
    "np.vecdot({mat}, {mat})",
    weight=0.3,
)
calls(
    "Linear algebra by other names",
    "vec",
    "np.linalg.vecdot({mat}, {mat}, axis=0)",
    "np.linalg.diagonal({mat})",
    "np.linalg.vector_norm({mat}, axis=1)",
    weight=0.3,
)
calls(
    "Linear algebra by other names",
    "float",
    "np.linalg.trace({mat})",
    "np.linalg.vector_norm({mat})",
    "np.linalg.matrix_norm({mat})",
    "np.sum(np.linalg.outer({vec}, {part}))",
    "np.sum(np.linalg.matmul({mat}, {mat}))",
    "np.sum(np.linalg.cross(np.ones(3) * {float}, np.arange(3.0)))",
    weight=0.3,
)
calls(
    "Sampled functions",
    "vec",
    "np.unwrap({vec} * 3.0)",
    "np.cumulative_sum({vec})",
    "np.cumulative_prod({vec})",
    "np.cumulative_sum({mat}, axis=1, include_initial=True)[:, -1]",
    "{vec} * np.hanning(len({vec}))",
    "{vec} * np.hamming(len({vec}))",
    "{vec} * np.bartlett(len({vec}))",
    "{vec} * np.blackman(len({vec}))",
    "{vec} * np.kaiser(len({vec}), 3.0)",
    "np.i0({vec})",
    weight=0.3,
)
calls(
    "Grids, polynomials, margins",
    "part",
    "np.polyadd({part}, {vec})",
    "np.polysub({vec}, {part})",
    "np.polyint({vec})",
    "np.polymul(np.append({part}, {float}), np.array([0.0, 2.0]))",
    "{mat}[np.tril_indices(len({vec}))]",
    "{mat}[np.triu_indices(len({vec}), 1)]",
    "{mat}[np.diag_indices(len({vec}))]",
    "1.0 * np.unravel_index({ints} % 6, (2, 3))[1]",
    "1.0 * np.ravel_multi_index(({ints} % 2, {ints} % 3), (2, 3))",
    "1.0 * np.indices((len({vec}), 2))[0, :, 0]",
    weight=0.3,
)

calls(
    TURNED,
    "float",
    "sum(u2 * (u1[0] - u1[1]) for u1, u2 in np.ndenumerate({mat}))",
    "sum(u1[0] * {float} for u1 in np.ndindex(2, 3))",
    weight=0.2,
)
