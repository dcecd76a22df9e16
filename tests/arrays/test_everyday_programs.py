"""Programs as people write them, which the bank does not have, with arrays of another module: in both modes, to second
order, and trained."""

import dataclasses

import numpy as np
import pytest

import s2s
from tests.arrays import programs, standin

rng = np.random.default_rng(5)
v, u, c = rng.normal(size=7), rng.normal(size=7), rng.normal(size=(3, 4))
A, M, T, K = (rng.normal(size=shape) for shape in ((4, 4), (5, 4), (3, 4, 5), (4, 2)))
S, pos, idx = A @ A.T + 4 * np.eye(4), np.abs(v) + 0.5, np.array([0, 2, 2, 5, 1])


def stores(x):
    y = np.zeros(9)
    y[1:8] = x
    y[3] *= x[0]
    y[-1] = y[1] + y[2]
    y[::2] += 1.5 * y[::2]
    return np.sum(y * y)


def add_at(x, w, idx):
    out = np.zeros(6)
    np.add.at(out, idx, w[:5] * x[:5])
    return np.sum(np.sin(out))


def subtract_at(x, idx):
    out = np.ones(6)
    np.subtract.at(out, idx, x[:5])
    return out


def masks(x):
    y = x.copy()
    m = x > 0
    y[m] = y[m] ** 2
    y[~m] *= -3.0
    return y.sum() + x[m].mean()


def mask_2d(a):
    b = np.where(a > 0.3, a, 0.1 * a)
    b[b < 0] = 0.0
    return np.sum(b @ b.T)


def reductions(a):
    return (
        np.sum(a, axis=0) @ np.prod(a[:2], axis=0)
        + a.std()
        + np.var(a, axis=1).sum()
        + a.max()
        - a.min(axis=0).sum()
        + np.ptp(a)
    )


def logsumexp(a):
    m = np.max(a, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(a - m), axis=1)) + m[:, 0])


def linalg(s, b):
    x = np.linalg.solve(s, b)
    L = np.linalg.cholesky(s)
    sign, ld = np.linalg.slogdet(s)
    return x @ b + np.trace(L) + ld + np.linalg.norm(np.linalg.inv(s))


def eigen(s):
    return np.sum(np.sqrt(np.linalg.eigvalsh(s)))


def svd(a):
    U, sv, Vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(sv**3) + np.sum((U * sv @ Vh) ** 2)


def qr(a):
    q, r = np.linalg.qr(a)
    return np.sum(q @ r * a) + np.sum(np.abs(r))


def fft(x):
    f = np.fft.rfft(x)
    p = np.abs(f) ** 2
    g = np.fft.irfft(f * np.arange(len(f)), len(x))
    return np.sum(p * np.arange(len(p))) + np.sum(g * x)


def fft2(a):
    return np.sum(np.abs(np.fft.fft2(a) * np.fft.fftshift(a)) ** 2)


def draws(x):
    r = np.random.default_rng(3)
    e = r.normal(size=x.shape)
    return np.sum(np.tanh(x + 0.1 * e))


def draws_old(x):
    np.random.seed(1)
    return np.mean(np.exp(x * np.random.randn(7)))


def sorting(x):
    o = np.argsort(x)
    s = np.sort(x)
    return np.sum(s * np.arange(7.0)) + np.sum(x[o][:3] ** 2) + np.median(x)


def partition(x):
    return np.sum(np.partition(x, 3)[:3]) + np.quantile(x, 0.3)


def cumulative(x):
    return np.sum(np.cumsum(x) ** 2) + np.cumprod(1 + 0.1 * x)[-1] + np.sum(np.diff(x, n=2) ** 3)


def einsums(a, b):
    return np.einsum("ij,kj->", a, b) + np.sum(np.einsum("ij,ij->i", a, a[:, ::-1]) ** 2) + np.einsum("ii", a[:4])


def einsum3(t, a):
    return np.sum(np.einsum("abc,bd,bd->ac", t, a, a) ** 2)


def wheres(x, y):
    return np.sum(np.where((x > 0) & (y < 1), x * y, np.where(x < -0.5, y, x**2)))


def interp(x, f):
    return np.sum(np.interp(x, np.linspace(-3, 3, 7), f) ** 2)


def take_along(a):
    o = np.argsort(a, axis=1)
    s = np.take_along_axis(a, o, axis=1)
    return np.sum(s[:, 0] * s[:, -1]) + np.sum(np.take(a, [0, 2, 2], axis=0) ** 2)


def put_along(a):
    b = np.zeros_like(a)
    np.put_along_axis(b, np.argmax(a, axis=1)[:, None], 2.0, axis=1)
    return np.sum(a * b)


def broadcasting(x, a):
    return np.sum((x[None, :4] * a[:, None, :] + x[1:5, None]).mean(axis=(0, 2)) ** 2)


def zero_d(x):
    m = x.mean()
    s = np.sqrt(((x - m) ** 2).mean())
    k = 2.0 * m + 1
    c = np.float64(0.5) * s
    return np.sum((x - m) / s * k + c) + m * s


def loop(x):
    y = x
    h = 0.0
    for i in range(5):
        y = np.sin(y) * (1 + 0.1 * i) + h
        h = h + y[i] * 0.5
    return np.sum(y) * h


def early(x):
    y = x
    for k in range(30):
        if np.sum(y * y) < 0.05:
            return np.sum(y) * k
        y = 0.7 * y
    return np.sum(y**3)


def while_tol(x):
    z = x * 0.5
    n = 0
    while np.max(np.abs(z * z - np.abs(x))) > 1e-06 and n < 50:
        z = 0.5 * (z + np.abs(x) / z)
        n += 1
    return np.sum(z)


def floats(x):
    a = float(x[0])
    b = x[1].item()
    return np.sum(x) * a + b**2


def int_of(x):
    k = int(np.argmax(x))
    return x[k] ** 2 + np.sum(x[: k + 1])


def lists(xs):
    return sum((np.sum(x**2) for x in xs)) * xs[0][0]


def nested(p):
    return np.sum(np.tanh(p["a"]["w"] @ p["a"]["b"] + p["c"][0]))


@dataclasses.dataclass
class Par:
    w: np.ndarray
    b: np.ndarray
    k: float


def data(p):
    return np.sum(np.tanh(p.w @ p.b) * p.k)


def list_build(x):
    out = []
    for i in range(4):
        out.append(x[i] * np.exp(x[i + 1]))
    return np.sum(np.stack(out) ** 2) + np.sum(np.array(out))


def concat(x, a):
    return (
        np.sum(np.concatenate([x[:4] * 2, a[0], np.ones(2)]) ** 2)
        + np.sum(np.vstack([x[:4], a]) ** 3)
        + np.sum(np.hstack([x, x])[3:])
    )


def pads(a):
    return (
        np.sum(np.pad(a, ((1, 1), (2, 0)), mode="edge")[1:-1] ** 2)
        + np.sum(np.roll(a, 2, axis=1) * a)
        + np.sum(np.tile(a, (2, 1)) * np.repeat(a, 2, axis=0))
    )


def poly(x):
    return np.sum(np.polyval(x, np.linspace(0, 1, 5))) + np.dot(
        np.convolve(x, np.ones(3), mode="valid"), np.arange(5.0)
    )


def outer(x, y):
    return np.trace(np.outer(x, y) @ np.outer(y, x)) + np.sum(np.kron(x[:2], y[:3]) * np.cross(x[:3], y[:3]).sum())


def clip(x):
    return np.sum(np.clip(x, -0.5, 0.7) ** 2) + np.sum(np.maximum(x, 0) * np.minimum(x, 1) + np.abs(x) + np.sign(x) * x)


def special(x):
    return np.sum(
        np.arctan2(x, 1 + x**2) + np.hypot(x, 2.0) + np.log1p(x**2) + np.expm1(x) + np.logaddexp(x, 1.0) + np.sinc(x)
    )


def views(a):
    b = a.reshape(-1)[2:10].reshape(2, 4)
    c = np.moveaxis(a[None], 0, 2)[..., 0].T
    d = np.swapaxes(a, 0, 1).ravel()
    return np.sum(b**2) + np.sum(c[:, :2] ** 3) + d @ d


def inplace_ops(x):
    y = x + 0
    y += 1
    y *= 2
    y /= 3
    y -= x
    y **= 2
    return np.sum(y)


def out_args(x):
    y = np.empty_like(x)
    np.multiply(x, 2, out=y)
    np.exp(y, out=y)
    return y.sum()


def meshes(x):
    a, b = np.meshgrid(x[:3], x[3:6])
    return np.sum(a * b**2) + np.trapezoid(x)


def triangle(a):
    return np.sum(np.tril(a) @ np.triu(a[:4])) + np.sum(np.diag(a[:4])) + np.sum(np.diag(a[0]) ** 2)


def hist_weights(x):
    k = np.digitize(x, np.array([-1.0, 0.0, 1.0]))
    w = np.bincount(k, minlength=4)
    return np.sum(x * np.asarray([1.0, 2, 3, 4])[0] * w[0])


def closure(x):
    k = np.arange(7.0)

    def inner(t):
        return np.sum(t * k)

    return inner(x) ** 2 + inner(np.cos(x))


def nan(x):
    y = x.copy()
    y[2] = np.nan
    return np.nansum(y * x) + np.nanmean(y) + np.nanmax(y)


def argextr(a):
    return np.sum(a[np.arange(5), np.argmax(a, axis=1)] ** 2) + np.sum(a[np.unravel_index(np.argmin(a), a.shape)])


def tensordots(t, a):
    return np.sum(np.tensordot(t, a, axes=([1], [1])) ** 2) + np.sum(np.matmul(t, np.ones((5, 2))) ** 2)


def complex_(x):
    z = x * np.exp(1j * x)
    return np.sum(np.abs(z + z.conj() * 1j) ** 2) + np.sum((z * z).real) + np.angle(z[0])


def split(x):
    a, b = np.split(x[:6], 2)
    c = np.array_split(x, 3)
    return a @ b + np.sum(c[0] ** 2) * c[2][0]


def unpack(x):
    a, b, *c = x
    return a * b + sum(c)


def setitem_rows(a):
    b = np.zeros((5, 4))
    for i in range(5):
        b[i] = a[i] * (b[i - 1] + 1)
        b[i, 0] += a[i, 1]
    return np.sum(b)


def swap(x):
    idx = np.array([0, 2, 5, 1])
    y = x.copy()
    y[0], y[1] = (y[1] * 2, y[0])
    y[idx] = y[idx] * 2
    return np.sum(y**3)


def f32(x):
    return np.sum(np.tanh(x) * np.float32(2) + x.astype(np.float32))


def power(x):
    return np.sum(
        x**2
        + x**3.0
        + 2.0**x
        + np.power(np.abs(x), 1.5)
        + np.sqrt(np.abs(x))
        + np.square(x)
        + np.cbrt(x)
        + np.reciprocal(x)
    )


def mean_axis_cond(a):
    if a.mean() > 10:
        return np.sum(a)
    elif a[0, 0] > a[1, 1]:
        return np.sum(a * a)
    return np.sum(a**3)


def compare_chain(x):
    t = x[0]
    if -1 < t < 1 and (not (x > 100).any()):
        t = t * 3
    assert np.isfinite(x).all()
    return t * np.sum(x)


def builtin(x):
    return max(x[0], x[1]) * min(x[2], 0.1) + abs(x[3]) + sum(x) + pow(x[4], 2) + round(2.6) * x[5]


def fill(x):
    y = np.full(7, x[1])
    y.fill(x[2])
    z = np.full_like(x, x[3])
    return np.sum(y * z)


def ffts_complex_in(z):
    return np.sum(np.abs(np.fft.ifft(z)) ** 2 * np.arange(7.0))


def gradient_(x):
    return np.sum(np.gradient(x) ** 2) + np.sum(np.ediff1d(x)) + np.sum(np.flip(x) * x) + np.sum(x[::-1][1:] * x[:-1])


def cov(a):
    return np.sum(np.cov(a) ** 2) + np.corrcoef(a[0], a[1])[0, 1]


def searchs(x, y):
    s = np.sort(x)
    k = np.searchsorted(s, y)
    k = np.clip(k, 1, 6)
    return np.sum(s[k] - s[k - 1])


def rolled(x):
    return np.sum(np.roll(x, (1, -1), axis=(0, 1)) * x) + np.sum(np.pad(x, ((1, 2), (0, 1)), mode="edge") ** 2)


def while_count(x):
    n = 0
    while x[n] < 1.0 and n < 6:
        n += 1
    return np.sum(x[: n + 1] ** 2)


def vector(x):
    return np.cumsum(np.sin(x)) * x[0]


NESTED = {"a": {"w": M, "b": v[:4]}, "c": (u[:5], 1.0)}
PROGRAMS = [
    *[
        (f, (v,))
        for f in (
            stores,
            masks,
            fft,
            draws,
            draws_old,
            sorting,
            partition,
            cumulative,
            zero_d,
            loop,
            early,
            floats,
            int_of,
            list_build,
            poly,
            clip,
            special,
            inplace_ops,
            out_args,
            meshes,
            hist_weights,
            closure,
            nan,
            complex_,
            split,
            unpack,
            swap,
            compare_chain,
            builtin,
            fill,
            gradient_,
            while_count,
            vector,
        )
    ],
    *[
        (f, (M,))
        for f in (
            mask_2d,
            reductions,
            logsumexp,
            svd,
            qr,
            fft2,
            take_along,
            put_along,
            pads,
            views,
            triangle,
            argextr,
            setitem_rows,
            rolled,
            mean_axis_cond,
            cov,
        )
    ],
    *[(f, (v, u)) for f in (wheres, interp, outer, searchs)],
    *[(f, (pos,)) for f in (while_tol, power)],
    (add_at, (v, u, idx)),
    (subtract_at, (v, idx)),
    (linalg, (S, v[:4])),
    (eigen, (S,)),
    (einsums, (M, c)),
    (einsum3, (T, K)),
    (tensordots, (T, K.T)),
    (broadcasting, (v, M)),
    (concat, (v, M)),
    (lists, ([v, u],)),
    (nested, (NESTED,)),
    (data, (Par(M, v[:4], 0.5),)),
    (f32, (v.astype(np.float32),)),
    (ffts_complex_in, (v + 1j * u,)),
]
VIEWS = ("swap",)
"""Where an item is a view on other modules, the function itself has another value."""


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_first_derivatives(f, args, mode):
    program = programs.Program(f.__name__, f, args, tuple(range(len(args))))
    assert programs.compare(program, standin, mode) == ("another value" if f.__name__ in VIEWS else "same")


def hvp(f, *args):
    return s2s.hvp(f)(args[0], args[0], *args[1:])


def gradient_of_gradient(f, *args):
    gradient = s2s.grad(f)
    return s2s.grad(lambda x, *rest: np.sum(gradient(x, *rest) ** 2))(*args)


def values_and_gradients(f, *args):
    return s2s.value_and_grad(f, argnums=tuple(range(len(args))))(*args)


def of_jacrev(f, *args):
    return s2s.jacrev(f)(*args)


def of_jacfwd(f, *args):
    return s2s.jacfwd(f)(*args)


def of_hessian(f, *args):
    return s2s.hessian(f)(*args)


@pytest.mark.parametrize("optimizer", [
    s2s.optim.SGD(0.05), s2s.optim.Momentum(0.05), s2s.optim.Nesterov(0.05), s2s.optim.RMSProp(0.05),
    s2s.optim.Adagrad(0.05), s2s.optim.Adam(0.05), s2s.optim.AdamW(0.05)], ids=lambda made: type(made).__name__)
@pytest.mark.parametrize("frozen", [None, "b", {"a": {"w": M > 0, "b": False}, "c": False}])
def test_training(optimizer, frozen):
    found = [optimizer.minimize(nested, params, steps=4, frozen=frozen) for params in (
        NESTED, programs.moved(NESTED, standin))]
    programs.assert_like(found[1].params, found[0].params, standin, "params")
    np.testing.assert_array_equal(found[1].history, found[0].history)
    assert type(found[1].value) is float
    state = {name: part for name, part in found[0].state.items() if name not in ("step", "steps")}
    programs.assert_like({name: found[1].state[name] for name in state}, state, standin, "state", loose=True)


def test_training_of_one_array_and_what_is_not_finite():
    found = [s2s.optim.Adam(0.05).minimize(loop, params, steps=4).params for params in (v, standin.asarray(v))]
    programs.assert_like(found[1], found[0], standin, "params")
    with pytest.raises(s2s.errors.NonFiniteError, match="S2S607"):
        s2s.optim.SGD(1e200).minimize(power, standin.asarray(pos), steps=5)


SECOND = [
    *[
        (hvp, f)
        for f in (
            "stores",
            "masks",
            "logsumexp",
            "linalg",
            "loop",
            "sorting",
            "cumulative",
            "fft",
            "add_at",
            "early",
            "take_along",
            "einsums",
            "setitem_rows",
            "lists",
            "floats",
        )
    ],
    *[(of_hessian, f) for f in ("loop", "power", "wheres", "sorting", "stores", "interp")],
    *[(gradient_of_gradient, f) for f in ("logsumexp", "zero_d")],
    *[(values_and_gradients, f) for f in ("linalg", "wheres", "data", "nested")],
    (of_jacrev, "vector"),
    (of_jacfwd, "vector"),
    (of_jacfwd, "loop"),
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize(("made", "name"), SECOND, ids=[f"{made.__name__}-{name}" for made, name in SECOND])
def test_second_derivatives_and_jacobians(made, name):
    f, args = next(found for found in PROGRAMS if found[0].__name__ == name)
    programs.assert_like(made(f, *programs.moved(args, standin)), made(f, *args), standin, name)
