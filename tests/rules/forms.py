"""Calls of NumPy as people write them: each line is an expression of the variables of ``VARIABLES``."""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(3)
SQUARE = RNG.normal(size=(3, 3))
VARIABLES = {
    "x": RNG.normal(size=(3, 4)), "y": RNG.normal(size=(3, 4)), "v": RNG.normal(size=4), "w": RNG.normal(size=4),
    "u": RNG.normal(size=3), "s": 0.7, "t": -0.4, "A": RNG.normal(size=(3, 3)), "B": RNG.normal(size=(3, 3)),
    "T": RNG.normal(size=(2, 3, 4)), "M": RNG.normal(size=(2, 3, 3)),
    "Z": RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4)), "Zv": RNG.normal(size=4) + 1j * RNG.normal(size=4),
    "C": RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)), "p": RNG.uniform(0.5, 1.5, (3, 4)),
    "q": RNG.uniform(-0.8, 0.8, (3, 4)), "P": SQUARE @ SQUARE.T + np.eye(3),
}
POSITIVE = {"P"}
CONSTANTS = {
    "mask": np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]]),
    "grid": np.array([0.0, 0.6, 1.1, 2.0]),
}

NOT_IN_EVERY_NUMPY = ("matvec", "vecmat")
"""Functions that the oldest NumPy does not have."""

ELEMENTWISE = """
np.sin(x) * np.cos(y) + np.tan(0.3 * x)
np.arcsin(q) + np.arccos(q) + np.arctan(x)
np.asin(q) + np.acos(q) + np.atan(x) + np.atan2(x, y) + np.asinh(x) + np.acosh(p + 1) + np.atanh(q)
np.sinh(x) + np.cosh(y) + np.tanh(x)
np.arcsinh(x) + np.arccosh(p + 1) + np.arctanh(q)
np.exp(x) + np.exp2(y) + np.expm1(x)
np.log(p) + np.log2(p) + np.log10(p) + np.log1p(p)
np.sqrt(p) + np.cbrt(p) + np.square(x) + np.reciprocal(p)
np.negative(x) + np.positive(y) - (-x) + (+y)
np.deg2rad(x) + np.rad2deg(y) + np.degrees(x) + np.radians(y)
np.sinc(x) + np.i0(y)
np.abs(x) + np.absolute(y) + np.fabs(x) + abs(y)
np.sign(x) * y
np.floor_divide(x, 0.7) * 0.0 + y
np.add(x, v) + np.subtract(x, s) + np.multiply(x, u[:, None]) + np.divide(x, p)
np.true_divide(x, p) + x / p + np.power(p, y) + p ** y + np.float_power(p, s)
np.pow(p, 2) + p ** 2 + p ** -1 + p ** 0.5 + x ** 3 + 2 ** x + 2.5 ** x
np.power(2.0, x) + np.power(x, 2)
x ** 0
s ** 2 + s ** t
np.arctan2(x, y) + np.arctan2(x, 1.0) + np.hypot(x, y) + np.hypot(x, 1.0)
np.logaddexp(x, y) + np.logaddexp(x, 0.0) + np.logaddexp2(x, y)
np.maximum(x, y) + np.minimum(x, 0.1) + np.fmax(x, y) + np.fmin(0.1, y)
np.maximum(x, v) * np.minimum(s, x)
np.mod(p, 0.3) + np.remainder(p, 0.3) + p % 0.3 + np.fmod(x, 0.3)
np.copysign(x, y) + np.copysign(x, -1.0)
np.ldexp(x, 2) + np.heaviside(x, 0.5) * y
np.clip(x, -0.5, 0.5) + x.clip(-0.5, 0.5) + np.clip(x, None, 0.3) + np.clip(x, a_min=-0.1, a_max=None)
np.clip(x, min=-0.4, max=0.4) + x.clip(max=0.3) + x.clip(min=-0.3)
np.clip(x, -p, p)
np.nan_to_num(x) + np.nan_to_num(x, nan=1.0)
np.where(x > 0, x, y) + np.where(mask, x, 0.0) + np.where(x > y, 1.0, y)
np.where(mask, s, x)
np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)
np.real(Z) + np.imag(Z) + Z.real * Z.imag
np.real(x) + x.real + np.conj(x) + x.conj() + x.conjugate()
np.abs(Z) + np.angle(Z)
np.absolute(Z) ** 2
np.conj(Z) * Z + np.conjugate(Z) + Z.conj()
np.exp(Z) * np.sin(Z) / (Z + 3) + np.sqrt(Z) + np.log(Z) + Z ** 2 + Z ** 2.5
np.exp(1j * x)
1j * x + y
x * Z
np.tanh(Z) + np.cosh(Z) + np.arctan(Z) + np.arcsinh(Z) + np.square(Z) + np.reciprocal(Z)
np.power(Z, 3) + Z ** -1 + 2.0 ** Z + np.expm1(Z) + np.log1p(Z) + np.log2(Z) + np.log10(Z) + np.exp2(Z)
np.divmod(p, 0.3)[1] + np.modf(x)[0] + divmod(p, 0.3)[1]
np.add(x, y, dtype=np.float64) + np.multiply(x, 2, dtype=float)
np.sum(np.isfinite(x) * x) + np.sum((x > 0) * y) + np.sum((x > 0).astype(float) * y)
np.float64(s) * t + float(s) + np.float64(2.0) * x
np.float64(s)
np.float32(2.0) * x
np.array(2.0) * x + np.array([1.0, 2.0, 3.0, 4.0]) * x
x + [1.0, 2.0, 3.0, 4.0]
[1.0, 2.0, 3.0, 4.0] * x - (1, 2, 3, 4)
x * 2 + 3 * x - 1 + (1 - x) / 2 + 2 / p
x + 1j
np.signbit(x) * y + np.rint(x) * 0 + np.spacing(x) * 0
np.real_if_close(x)
np.sqrt(x ** 2 + y ** 2)
math.sin(s) * math.exp(t) + math.pow(abs(s) + 1, t) + math.log(2 + s) + math.atan2(s, t) + math.hypot(s, t)
math.sqrt(s * s + 1) + math.log(s * s + 1, 3) + math.log1p(s * s) + math.expm1(t) + math.erf(s)
math.gamma(s * s + 1)
math.fsum([s, t, s * t]) + math.prod([s, t]) + math.dist((s, t), (t, 1.0)) + math.copysign(s, t)
math.fabs(s)
max(s, t) * min(s, t) + max([s, t]) + sum([s, t, s]) + abs(s) + pow(s, 2) + round(s, 1) * 0
operator.mul(s, t) + operator.add(x, y) + operator.truediv(x, p) + operator.neg(x) + operator.pow(x, 2)
operator.getitem(x, 0)
operator.matmul(x, v) + operator.sub(u, s)
"""

REDUCTIONS = """
np.sum(x)
np.sum(x, axis=0)
np.sum(x, 1)
np.sum(x, axis=-1, keepdims=True)
np.sum(x, axis=(0, 1)) + np.sum(x, axis=(-1, 0), keepdims=True)
np.sum(T, axis=(0, 2)) * u
np.sum(x, axis=0, where=mask) + np.sum(x, initial=s) + np.sum(x, axis=0, dtype=float)
x.sum() + x.sum(0) + x.sum(axis=1)[0] + x.sum(keepdims=True)
x.sum(axis=(0, 1), keepdims=True)
np.mean(x) + np.mean(x, axis=0) + np.mean(x, 1)[0] + x.mean() + x.mean(axis=-1, keepdims=True)[0]
np.mean(T, axis=(0, 2)) + np.mean(x, axis=1, where=mask)
np.prod(x) + np.prod(x, axis=0) + x.prod(axis=1)[0] + np.prod(x, axis=(0, 1))
np.prod(x, axis=1, keepdims=True, initial=2.0) * np.prod(x, axis=1, keepdims=True, where=mask)
np.var(x) + np.var(x, axis=0) + x.var(axis=1)[0] + np.var(x, ddof=1)
np.var(x, axis=0, ddof=1, keepdims=True)
np.std(x) + np.std(x, axis=0) + x.std(axis=1)[0] + np.std(x, ddof=1)
np.std(x, axis=0, ddof=1, keepdims=True)
np.var(T, axis=(0, 2)) + np.std(T, axis=(0, -1))
np.var(T, axis=(0, 2), mean=np.mean(T, axis=(0, 2), keepdims=True))
np.var(x, correction=1) + np.std(x, axis=0, where=mask)
np.max(x) + np.max(x, axis=0) + x.max(axis=1)[0] + np.amax(x) + np.max(x, axis=(0, 1), keepdims=True)
np.min(x) + np.min(x, axis=0) + x.min(axis=1)[0] + np.amin(x) + np.min(x, axis=0, keepdims=True)
np.max(x, initial=-10.0) + np.max(x, axis=0, where=mask, initial=-9.0)
np.ptp(x) + np.ptp(x, axis=0)
np.median(x) + np.median(x, axis=0) + np.median(x, axis=1, keepdims=True) + np.median(T, axis=(0, 1))
np.percentile(x, 30) + np.percentile(x, [10, 50], axis=0)[0] + np.quantile(x, 0.3)
np.quantile(x, 0.4, axis=1)[0]
np.quantile(x, np.array([0.2, 0.7]), axis=1, keepdims=True) * np.percentile(x, q=25.0, axis=(0, 1))
np.nanquantile(x, 0.3) + np.nanpercentile(x, 30, axis=0) + np.nanmedian(x, axis=0)
np.quantile(v, 0.4, method="lower") + np.quantile(v, 0.4, method="higher")
np.quantile(v, 0.4, method="hazen")
np.nansum(x, axis=0) + np.nanmean(x, axis=0) + np.nanprod(x, axis=0) + np.nanstd(x, axis=0)
np.nanvar(x, axis=0)
np.nanmax(x, axis=0) + np.nanmin(x, axis=0) + np.nancumsum(x, axis=0)[1] + np.nancumprod(x, axis=0)[1]
np.average(x) + np.average(x, axis=0) + np.average(x, axis=1, weights=v)[0] + np.average(x, weights=p)
np.average(x, axis=0, weights=u ** 2, returned=False)
np.average(x, axis=0, weights=u ** 2, returned=True)[0]
np.cumsum(x) * np.cumprod(x)
np.cumsum(x, axis=0) * x.cumsum(axis=1) + np.cumsum(x, axis=-1, dtype=float)
np.cumprod(x, axis=0) + x.cumprod(axis=1)
np.cumulative_sum(v) + np.cumulative_prod(v) + np.cumulative_sum(x, axis=0)[0]
np.cumulative_sum(v, include_initial=True)
np.diff(x) [:, 0] + np.diff(x, axis=0)[0, :3] + np.diff(v, n=2)[0] + np.diff(v, prepend=0.0, append=s)[:3]
np.ediff1d(v) + np.ediff1d(x)[:3] + np.ediff1d(v, to_end=s)[:3]
np.gradient(v) + np.gradient(v, 0.5) + np.gradient(x, axis=1)[0] + np.gradient(x)[0][0]
np.gradient(v, grid) + np.gradient(v, edge_order=2)
np.trapezoid(x) [0] + np.trapezoid(v) + np.trapezoid(v, w) + np.trapezoid(v, dx=s)
np.trapezoid(x, axis=0)[0]
np.cov(x) [0] + np.cov(v, w)[0, 1] + np.corrcoef(x)[0] + np.corrcoef(v, w)[0, 1]
np.cov(x, rowvar=False)[0] + np.cov(x.T, bias=True)[0, 0] + np.cov(x, ddof=0)[0, 1]
np.add.reduce(x) + np.add.reduce(x, axis=1)[0] + np.multiply.reduce(x, axis=0) + np.maximum.reduce(x)
np.minimum.reduce(x)
np.add.accumulate(x) + np.multiply.accumulate(x, axis=1) + np.maximum.accumulate(x, axis=0)
np.minimum.accumulate(x)
np.add.outer(u, v) * np.multiply.outer(u, v) + np.subtract.outer(u, v) + np.maximum.outer(u, v)
np.logaddexp.reduce(x) + np.logaddexp.reduce(x, axis=1)[0]
np.add.reduceat(v, [0, 2]) + np.add.reduceat(x, [0, 1, 3], axis=1)[0, :2]
np.multiply.reduceat(v, [0, 2])
np.subtract.reduce(v) + np.divide.reduce(p, axis=0) + np.hypot.reduce(x, axis=0) + np.fmax.reduce(x)
np.hypot.reduce(x[:1], axis=0) * y + np.logaddexp.reduce(x[:1], axis=0)
np.fmin.reduce(x)
np.add.reduce(x, where=mask) + np.multiply.reduce(x, where=mask) + np.maximum.reduce(x, where=mask, initial=-1.0)
np.hypot.reduce(x, axis=0, where=mask) + np.fmax.reduce(x, where=mask, initial=-2.0)
np.logaddexp.reduce(x, where=mask)
np.hypot.reduce(x, axis=None, where=mask, keepdims=True) + np.logaddexp.reduce(x, 1, where=mask, initial=s)[0]
np.logaddexp.accumulate(v) + np.subtract.accumulate(v) + np.logaddexp2.reduce(v)
np.arctan2.outer(u, v) + np.hypot.outer(u, v) + np.logaddexp.outer(u, v)
np.linalg.norm(x) + np.linalg.norm(v) + np.linalg.norm(x, axis=0) + np.linalg.norm(v, 3)
np.linalg.norm(v, 1)
np.max(np.abs(x)) + np.sum(np.abs(x)) + np.sqrt(np.sum(x ** 2))
np.count_nonzero(x) * s + np.argmax(v) * s + np.all(x > 0) * s
np.sum([s, t, s * t]) + np.mean([s, t]) + np.max([s, t]) + np.prod([s, t]) + np.var([s, t, 1.0])
np.sum((s, t)) + np.sum([u, u]) + np.mean([v, w], axis=0)
np.sum(Z) + np.mean(Z, axis=0) + np.prod(Z, axis=0) + np.cumsum(Z, axis=0)[1] + np.cumprod(Zv)
np.var(Z) + np.std(Z, axis=0)
"""

SHAPES = """
np.reshape(x, (4, 3)) + np.reshape(x, (2, -1)).reshape(4, 3) + x.reshape((4, 3))
x.reshape(-1).reshape([4, 3])
np.reshape(x, (4, 3), order="F") + x.reshape(4, 3, order="F")
np.reshape(x, -1) + x.ravel() + np.ravel(x, order="F") + x.flatten() + x.flatten("F") + x.ravel(order="C")
np.transpose(x) + x.T + x.transpose() + x.transpose(1, 0) + x.transpose((1, 0)) + np.transpose(x, (1, 0))
x.swapaxes(0, 1)
np.transpose(T, (2, 0, 1)) + np.moveaxis(T, -1, 0) + np.rollaxis(T, 2) + np.moveaxis(T, (0, 1, 2), (1, 2, 0))
np.permute_dims(T, (2, 0, 1)) + np.matrix_transpose(T)[0, 0, 0] + T.mT[0, 0, 1]
np.swapaxes(T, 0, 2) + np.transpose(T)
np.concatenate([x, y]) [:3] + np.concatenate((x, y), axis=1)[:, :4] + np.concatenate([x, y], axis=0)[1:4]
np.concatenate([x, np.ones((3, 1)), y], axis=-1)
np.concatenate([v, [1.0, 2.0], np.atleast_1d(s)])
np.concatenate([x, y], axis=None)
np.concat([x, y]) + np.vstack([x, y]) + np.vstack((x, y)) + np.r_[x, y]
np.hstack([x, y]) + np.c_[x, y] + np.hstack((v, w))
np.r_[v, s, 1.0, w]
np.r_[0.0, v]
np.c_[v, w]
np.c_[v, w, v ** 2]
np.stack([v, w]) + np.stack((v, w), axis=0) + np.stack([v, w], axis=-1).T + np.vstack([v, w])
np.column_stack([v, w]).T
np.dstack([v, w]) + np.dstack([x, y])[0]
np.append(v, w) + np.append(v, [s, t, 1.0, 2.0]) + np.append(x, s)[:8]
np.append(x, y, axis=1)
np.array([s, t, s * t]) + np.array([[s, t, 1.0], [t, s, s]]) + np.asarray([s, t, s])
np.array([v, w]) * np.array([v, w * 2])
np.array([x, y]) [0] + np.array((x, y))[1]
np.array(x) + np.asarray(x) + np.asanyarray(x) + np.ascontiguousarray(x) + np.copy(x) + x.copy()
np.asfortranarray(x)
np.array([np.array([s, t]), np.array([t, s])])
np.array([[x[0, 0], x[1, 1]], [x[2, 2], s]])
np.split(x, 2, axis=1)[0] + np.split(x, [2], axis=1)[1] + np.hsplit(x, 2)[0] + np.array_split(x, 2, axis=1)[1]
np.array_split(v, 3)[0] + np.vsplit(np.vstack([x, x]), 2)[0][0, :2] + np.dsplit(T, 2)[0][0, 0]
np.squeeze(x[None]) + np.expand_dims(x, 0)[0] + x[None, ...][0] + np.expand_dims(x, (0, 1))[0, 0]
x[np.newaxis].squeeze(0)
np.squeeze(x[:, :1]) + np.squeeze(x[:, None], axis=1)[:, 0] + x[:, :1].squeeze(axis=-1)
np.atleast_1d(s) + np.atleast_2d(v) + np.atleast_3d(v)[..., 0]
np.repeat(v, 2) + np.repeat(x, 2, axis=0)[0, 0] + np.tile(v, 2) + np.tile(v, (2, 2))[0] + v.repeat(2)
np.repeat(x, [1, 2, 0], axis=0) + np.repeat(s, 4) + np.tile(x, (1, 1))
np.broadcast_to(v, (3, 4)) + np.broadcast_to(s, (3, 4)) + np.broadcast_arrays(x, v)[1]
np.flip(x) + np.flip(x, 0) + np.fliplr(x) + np.flipud(x) + x[::-1] + x[:, ::-1] + np.flip(x, axis=(0, 1))
np.roll(x, 1) + np.roll(x, 1, axis=0) + np.roll(x, (1, 2), axis=(0, 1)) + np.roll(x, -1, axis=-1)
np.rot90(A) + np.rot90(A, 2) + np.rot90(A, k=-1) + np.rot90(A, 1, (1, 0))
np.pad(x, 1) + np.pad(x, ((1, 1), (1, 1))) + np.pad(x, 1, mode="constant")
np.pad(x, 1, "constant", constant_values=3.0)
np.pad(x, 1, mode="edge") + np.pad(x, 1, mode="reflect") + np.pad(x, ((1, 1), (1, 1)), "wrap")
np.pad(x, 1, "symmetric")
np.pad(v, (1, 2), "mean") + np.pad(v, (1, 2), "linear_ramp", end_values=(5.0, -4.0))
np.pad(v, (2, 1), "mean", stat_length=2)
np.pad(x, ((0, 0), (1, 0)), constant_values=(2.0, 3.0))
np.diag(v)[0] + np.diag(A)[0] + np.diag(v, 1)[0, 1] + np.diagonal(A)[1] + A.diagonal()[2]
np.diagflat(v)[1, 1]
np.diag(A, k=1)[0] + np.diagonal(x, offset=1)[0] + np.diagonal(T, axis1=1, axis2=2)[0, 0]
np.linalg.diagonal(T)[0]
np.trace(A) + A.trace() + np.trace(x, offset=1) + np.trace(T, axis1=1, axis2=2)[0] + np.linalg.trace(A)
np.tril(A) + np.triu(A, 1) + np.tril(x)[:, :3] + np.triu(T)[0, :, :3] + np.tril(A, k=-1)
np.linspace(s, t, 5) + np.linspace(0.0, s, 5) + np.linspace(s, 1.0, num=5, endpoint=False)
np.linspace(s, t, 5, retstep=True)[0]
np.linspace(s, t, 5, retstep=True)[1]
np.logspace(s, t, 4) + np.geomspace(s * s + 1, t * t + 2, 4) + np.full(4, s) + np.full_like(v, s)
np.meshgrid(u, v)[0] * np.meshgrid(u, v)[1] + np.meshgrid(u, v, indexing="xy")[0]
np.meshgrid(u, v, indexing="ij")[0] + np.meshgrid(u, v, indexing="ij", sparse=True)[1]
np.ones_like(x) * s + np.zeros_like(x) + np.empty((3, 4)) * 0 + np.arange(4.0) * v
np.resize(v, (2, 4)) + np.insert(v, 1, s)[:4] + np.delete(v, 0)[0] + np.insert(x, 1, 5.0, axis=1)[0, :4]
np.delete(x, [0, 2], axis=1) + np.delete(x, 1, 0)[0, :2]
np.vander(v) + np.vander(v, 4, increasing=True)
np.block([[A, u[:, None]], [np.ones((1, 3)), np.array([[s]])]])
np.trim_zeros(np.concatenate([np.zeros(1), v]))
np.unstack(x)[1] + np.unstack(x, axis=1)[0][0]
x.astype(np.float64) + x.astype(float) + x.astype("float64", copy=False) + np.astype(x, np.float64)
x.astype(complex) * 1j
x.item(1, 2) + x[0, 0].item() + float(x[1, 1]) + v.item(2) + x[1, 2].item() * 2
np.array(x.tolist()) + np.array([s, t]).tolist()[0]
np.ndarray.flatten(x) + np.ndarray.sum(x)
x.take([0, 2], axis=1) + x.compress([True, False, True], axis=0)[0, :2] + x.dot(v)[0]
x.view() + x.squeeze() + x.ravel()[:4]
np.matrix_transpose(x) + np.linalg.matrix_transpose(x)
np.apply_along_axis(np.sum, 0, x) + np.apply_over_axes(np.sum, x, [0])[0]
np.vectorize(lambda a: a * a)(x)
np.shape(x)[0] * x + len(x) * x + x.size * x + x.ndim * x
"""

INDEXING = """
x[0] + x[-1] + x[1, :] + x[:, 1][0] + x[1, 2] + x[..., 0][0] + x[1][2]
x[0:2] + x[1:] + x[:-1] + x[::2] + x[::-2]
x[:, 0:2] + x[:, ::2] + x[:, ::-2] + x[:, -2:]
x[[0, 2]] + x[np.array([0, 0])] + x[(0, 2), :] + x[[True, False, True]]
x[[0, 0, 1], [1, 1, 2]] + x[np.array([0, 1, 1]), 2] + x[[2, 2, 2], ...][:, 0] + x[:, [0, 1, 1]][0]
x[mask] * 2
x[x > 0] * 3
x[x > 0].sum() + x[mask].mean() + v[v > 0].sum() + x[~mask].sum()
x[None] [0] + x[:, None][:, 0] + x[..., None][..., 0] + x[np.newaxis, :, :][0]
x[np.ix_([0, 2], [1, 3])] + x[np.ix_([True, False, True], [0, 1])]
x[np.arange(3), [0, 1, 2]] + x[np.diag_indices(3)] + A[np.tril_indices(3)][:3] + A[np.triu_indices(3, 1)]
x[slice(0, 2)] + x[slice(None), slice(0, 4)][:2] + x[Ellipsis][:2]
T[:, [0, 2], 1] + T[0, 1:, :2] + T[..., 1, [0, 3]] + T[1, ..., ::3][1:]
T[[0, 1], :, [1, 2]][:, 0] + T[:, 1, 1]
v[np.argsort(v)] + np.sort(v) + v[np.argmax(v)] + v[::-1] + np.take(v, [0, 1, 1, 3])
np.take(x, [1, 1], axis=1) + x.take([0, 3], 1) + np.take(x, [[0, 1], [2, 3], [4, 5]])
np.take_along_axis(x, np.argsort(x, axis=1), axis=1) + np.take_along_axis(x, np.argsort(x, 0), 0)
np.compress([True, False, True], x, axis=0) + np.extract(mask, x)[0]
np.choose([0, 1, 1, 0], [v, w]) + np.select([v > 0, w > 0], [v, w * 2], default=s)
np.select([x > 0], [x]) + np.piecewise(x, [x > 0], [lambda z: z ** 2, lambda z: -z])
np.piecewise(x, [x < 0, x >= 0], [-1.0, lambda z: z])
np.where(mask)[0][0] * s + x[np.where(mask)] .sum() + x[np.nonzero(mask)].sum()
np.sort(x) + np.sort(x, axis=0) + np.sort(x, axis=None).reshape(3, 4) + np.sort(x, kind="stable")
np.partition(v, 2) + np.partition(x, 1, axis=1)[0] + np.sort(x.ravel())[-4:]
np.interp(0.5, grid, v) + np.interp(s, grid, v) + np.interp(x, grid, v)[0]
np.interp(u[0], grid, v, left=0.0)
np.interp(u, grid, v, period=5.0)
np.searchsorted(grid, s) * s + np.digitize(s, grid) * t
np.bincount([0, 1, 1, 3], weights=v) + np.histogram(grid, bins=4, weights=v)[0]
np.unwrap(3 * v) + np.interp(v, [0.0, 1.0], [s, t])
np.convolve(v, w) [:4] + np.convolve(v, u, "same") + np.convolve(v, u, mode="valid")[0]
np.correlate(v, u, "full")[:4]
np.correlate(v, w) + np.correlate(v, u, "same")[0]
np.polyval(v, s) + np.polyval(v, u)[0] + np.polyval([1.0, 2.0], s)
np.polyadd(v, u) + np.polysub(u, v) + np.polymul(v, u)[:4] + np.polyder(np.polyint(v))
np.polyfit(grid, v, 2)[0] + np.polyfit(v, w, 1)[1] + np.poly(v)[1] + np.polyint(v, k=s)[-1]
np.polydiv(np.polymul(v, [1.0, 2.0]), [1.0, 2.0])[0]
np.real(np.roots([1.0, s, -3.0]))
np.unique(v) + np.union1d(v, w)[:4]
np.extract(x > 0, x) * 2
np.lexsort((v,)) * v
np.max(x[1:]) * np.min(x[:, 1])
np.fromiter([1.0, 2.0], float) * s
np.kron(u, v) [:4] + np.kron(A, A)[0, :4]
"""

PRODUCTS = """
np.dot(v, w) + v @ w + v.dot(w) + np.inner(v, w) + np.vdot(v, w) + np.sum(v * w) + np.vecdot(v, w)
np.dot(x, v) + x @ v + x.dot(v) + np.matmul(x, v) + np.inner(x, v)
np.matmul(x, A, axes=[(1, 0), (0, 1), (1, 0)]) + np.matmul(T, A, axes=[(2, 1), (1, 0), (0, 1)])[:, :, 0].T
np.vecdot(x, y, axes=[0, 0]) + np.vecdot(x, y, axis=0)
np.dot(u, x) + u @ x + np.matmul(u, x)
np.matvec(x, v)
np.matvec(x, u, axes=[(1, 0), 0, 0]) + np.vecmat(u, x)
np.dot(x, y.T) + x @ y.T + np.matmul(x, y.T) + np.inner(x, y) + np.tensordot(x, y, axes=([1], [1]))
x.dot(y.T)
T @ v + T.dot(v) + np.dot(T, v) + np.matmul(T, v)
T @ x.T + np.matmul(T, x.T) + np.dot(T, x.T) + np.tensordot(T, x.T, 1) + np.tensordot(T, x, axes=(2, 1))
T @ np.swapaxes(T, -1, -2) + np.einsum("bij,bkj->bik", T, T)
A @ T + np.matmul(A, T)
np.outer(u, v) + np.einsum("i,j->ij", u, v) + u[:, None] * v[None, :] + np.tensordot(u, v, axes=0)
np.linalg.outer(u, v)
np.outer(v, 2.0) [:, 0] + np.outer(s, v)[0]
np.einsum("ij,j->i", x, v) + np.einsum("ij,j", x, v) + np.einsum("ij->i", x) + np.einsum("ij,ij->i", x, y)
np.einsum("ii", A) + np.einsum("ij->", x) + np.einsum("ij,ij", x, y) + np.einsum("i,ij,j->", u, x, v)
np.einsum("ii->i", A)
np.einsum("ij,jk->ik", A, B, optimize=True) + np.einsum("ij,jk,kl->il", A, B, A)
np.einsum(A, [0, 1], B, [1, 2], [0, 2])
np.einsum("...ij,...j->...i", T, v) [0] + np.einsum("bij,bj->bi", T, T[:, 0, :])[0]
np.einsum("...i,...i", x, y)
np.einsum("ij,kj->ik", x, y) + np.einsum("ij, kj -> ik", x, y)
np.tensordot(T, T, axes=([0, 1], [0, 1])) + np.tensordot(T, T, ((0, 1), (0, 1)))
np.tensordot(A, B) + np.tensordot(A, B, axes=2) + np.tensordot(A, B, axes=1)
np.linalg.tensordot(A, B, axes=1)
np.cross(u, u[::-1]) + np.cross(A, B)[0] + np.linalg.cross(A, B)[1] + np.cross(A, u)[2]
np.cross(A, B, axis=0)[0]
np.kron(A, np.eye(2)) + np.kron(np.ones((2, 2)), B)
np.linalg.multi_dot([x, y.T, A]) + np.linalg.matrix_power(A, 3) + np.linalg.matrix_power(A, -1)
np.linalg.matmul(A, B)
np.linalg.matrix_power(A, 0) * s
np.vdot(x, y) + np.vdot(Zv, Zv) + np.linalg.vecdot(x, y)[0] + np.vecdot(Z, Z)
Z @ np.conj(Z.T) + np.einsum("ij,kj->ik", Z, Z)
x.T @ x + (x @ x.T)[0, 0] + np.linalg.norm(x.T @ x)
C @ u + np.dot(C, Z) [:, 0] + u @ C
v.reshape(1, -1) @ w.reshape(-1, 1)
"""

LINALG = """
np.linalg.solve(A, u) + np.linalg.solve(A, B)[0] + np.linalg.solve(A, x)[:, 0]
np.linalg.solve(M, u) [0] + np.linalg.solve(M, M[:, :, :2])[0, :, 0]
np.linalg.solve(C, u)
np.linalg.inv(A) + np.linalg.inv(M)[0] + np.linalg.pinv(A)
np.linalg.inv(C) + np.linalg.det(C)
np.linalg.det(A) + np.linalg.det(M)[0] + np.linalg.slogdet(A)[1] + np.linalg.slogdet(M)[1][0]
np.linalg.slogdet(A).logabsdet * np.linalg.slogdet(A)[0]
np.linalg.cholesky(P) + np.linalg.cholesky(A @ A.T + 3 * np.eye(3), upper=True)
np.linalg.cholesky(np.matmul(M, np.swapaxes(M, 1, 2)) + 3 * np.eye(3))
np.linalg.eigh(A + A.T)[0] + np.linalg.eigh(A + A.T).eigenvalues + np.linalg.eigvalsh(A + A.T)
np.abs(np.linalg.eigh(A + A.T)[1]) + np.linalg.eigh(A + A.T, UPLO="U")[1] ** 2
np.abs(np.linalg.eigh(C + np.conj(C.T))[1]) ** 2 + np.linalg.eigvalsh(C + np.conj(C.T))
np.linalg.eigvalsh(M + np.swapaxes(M, 1, 2), UPLO="U") + np.linalg.eigh(M + np.swapaxes(M, 1, 2))[0]
np.abs(np.linalg.eig(C)[0]) ** 2 + np.abs(np.linalg.eigvals(C)) + np.abs(np.linalg.eig(C).eigenvectors[0])
np.real(np.linalg.eig(A @ A.T)[0]) + np.linalg.eigvals(A @ A.T)
np.linalg.svd(x)[1] + np.linalg.svd(x, compute_uv=False) + np.linalg.svdvals(x)
np.linalg.svd(x, full_matrices=False).S
np.abs(np.linalg.svd(x, full_matrices=False)[0]) + np.abs(np.linalg.svd(x, 0)[2][:, :3])
np.abs(np.linalg.svd(x.T, full_matrices=False)[0]) [:3] + np.abs(np.linalg.svd(A)[2])
np.linalg.svd(Z, compute_uv=False) + np.linalg.svd(C, compute_uv=False)
np.linalg.svd(T, compute_uv=False) + np.linalg.svdvals(T)
np.linalg.svd(P, hermitian=True)[1] + np.linalg.svd(P, hermitian=True, compute_uv=False)
np.linalg.qr(x)[1][:, :3] + np.linalg.qr(A)[0] + np.linalg.qr(A).R + np.linalg.qr(x.T)[1]
np.linalg.qr(A, mode="r")
np.linalg.qr(A, "complete")[0] + np.linalg.qr(T)[1][0, :, :3]
np.linalg.pinv(x) + np.linalg.pinv(x, rcond=1e-10) + np.linalg.pinv(T)[0]
np.linalg.lstsq(x.T, v, rcond=None)[0] + np.linalg.lstsq(x.T, v)[1] + np.linalg.lstsq(x.T, x.T)[0][0]
np.linalg.norm(x) + np.linalg.norm(x, "fro") + np.linalg.norm(x, axis=1) + np.linalg.norm(x, axis=0)[0]
np.linalg.norm(x, ord=2) + np.linalg.norm(x, ord="nuc") + np.linalg.norm(x, ord=1)
np.linalg.norm(x, ord=np.inf) + np.linalg.norm(x, -2)
np.linalg.norm(v, 2) + np.linalg.norm(v, ord=1) + np.linalg.norm(v, np.inf) + np.linalg.norm(v, 3)
np.linalg.norm(v, -np.inf) + np.linalg.norm(v, 0.5)
np.linalg.norm(T, axis=(0, 1)) + np.linalg.norm(T, ord=2, axis=(1, 2))[0]
np.linalg.norm(T, ord="nuc", axis=(1, 2))[1] + np.linalg.norm(x, axis=1, keepdims=True)[0]
np.linalg.norm(T, ord=4, axis=1)[0, 0] + np.linalg.norm(T, "fro", axis=(0, 2))
np.linalg.norm(x, ord=1, axis=-1)
np.linalg.norm(Z) + np.linalg.norm(Z, "nuc") + np.linalg.norm(Zv, 3) + np.linalg.norm(Z, axis=1)
np.linalg.vector_norm(x) + np.linalg.vector_norm(x, axis=1) + np.linalg.vector_norm(v, ord=3)
np.linalg.matrix_norm(x) + np.linalg.matrix_norm(T, ord=2)[0]
np.linalg.cond(A) + np.linalg.cond(A, 1) + np.linalg.cond(A, "fro") + np.linalg.matrix_rank(A) * s
np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 2, 3) * s, T[:, :, 0])
np.linalg.tensorinv(A.reshape(3, 3, 1), ind=1)
np.abs(np.linalg.eig(A).eigenvalues) + np.abs(np.linalg.eig(A).eigenvectors[0]) + np.linalg.eigh(P).eigenvalues
np.linalg.svd(A).S + np.linalg.qr(A).R[0] + np.linalg.slogdet(A).logabsdet + np.linalg.slogdet(C).logabsdet
np.log(np.linalg.det(P)) + u @ np.linalg.solve(P, u) + np.trace(np.linalg.inv(P))
np.linalg.slogdet(C)[1] + np.abs(np.linalg.det(C))
np.linalg.inv(A) @ u + A.T @ np.linalg.inv(A.T @ A) @ u
np.linalg.solve(A.T @ A + s * s * np.eye(3), A.T @ u)
"""

FFT = """
np.fft.fft(v) + np.fft.ifft(Zv) + np.fft.fft(v, 6)[:4] + np.fft.fft(x, axis=0)[0]
np.fft.fft(Z, norm="ortho")[0]
np.abs(np.fft.fft(v)) ** 2 + np.real(np.fft.ifft(np.fft.fft(v) * np.fft.fft(w)))
np.fft.rfft(v) + np.fft.rfft(x, axis=-1)[0] + np.fft.rfft(v, n=5) + np.fft.rfft(v, norm="forward")
np.fft.irfft(np.fft.rfft(v)) + np.fft.irfft(np.fft.rfft(v) * np.fft.rfft(w), n=4)
np.fft.fft2(x) + np.fft.ifft2(Z) + np.fft.fftn(x) + np.fft.ifftn(Z) + np.fft.fft2(x, norm="ortho")
np.fft.rfft2(x) + np.fft.rfftn(x) + np.fft.rfft2(x, axes=(0, 1))
np.fft.irfft2(np.fft.rfft2(x)) + np.fft.irfftn(np.fft.rfftn(x)) + np.fft.irfft2(np.fft.rfft2(x), s=(3, 4))
np.fft.fftn(T, axes=(0, 1)) + np.fft.fftn(T, s=(2, 3), axes=(0, 1)) + np.fft.fft2(T, s=(3, 4))[:2]
np.fft.fftshift(x) + np.fft.ifftshift(x) + np.fft.fftshift(x, axes=1) + np.fft.ifftshift(x, (0,))
np.fft.hfft(Zv)[:4] + np.fft.ihfft(v)[0] + np.fft.fftfreq(4) * v
np.fft.fftfreq(4, d=p[0, 0]) * v + np.fft.rfftfreq(4, p[0, 1])[0]
np.real(np.fft.ifft2(np.fft.fft2(x) * np.fft.fft2(y)))
"""
