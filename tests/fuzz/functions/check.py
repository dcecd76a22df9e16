"""What s2s does with a call: ``outcome(call, modes)``.

Modes are ``reverse`` (the gradient of a weighted sum of squares of the result), ``forward`` (the tangent of the
result), ``second`` (a product with the Hessian of that sum), ``jacrev`` and ``jacfwd`` (of a result that is one real
array), ``numba`` (the gradient compiled). Each is compared with central differences of the function, along a direction
of each argument. A policy gives functions that round their true derivative, zero.
"""

import dataclasses
import functools
import math
import warnings

import numpy as np

import s2s
from s2s import NumbaFallbackWarning
from s2s.errors import DifferentiationError, InternalError
from tests.fuzz.check import Outcome, Slow, Wrong, group_of, summary, time_limit, where
from tests.fuzz.functions.calls import drawn, numbers
from tests.fuzz.functions.subjects import compiled_names
from tests.fuzz.primal import Unfit

MODES = ("reverse", "forward", "second", "jacrev", "jacfwd", "numba")
SHARES = {"reverse": 1.0, "forward": 1.0, "second": 0.5, "jacrev": 0.3, "jacfwd": 0.3, "numba": 0.15}
SECONDS = 30
STENCIL = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))


# --- leaves ---------------------------------------------------------------------------------------------------------


def is_active(value):
    """Whether an argument is differentiated."""
    return np.asarray(value).dtype.kind in "fc" if not isinstance(value, list) else bool(np.size(value))


def direction(call, place, value, salt):
    """A random direction for an argument."""
    rng = np.random.default_rng([call.seed, place, 11 + salt])
    shape = np.shape(value)
    made = np.asarray(rng.uniform(0.3, 1.0, shape) * rng.choice([-1.0, 1.0], shape))
    if np.iscomplexobj(value):
        made = made + 1j * rng.uniform(-1.0, 1.0, shape)
    if call.draws[place].positive:
        made = 0.5 * (made + np.conj(np.swapaxes(made, -1, -2)))
    return made


def moved(value, along, amount):
    """An argument moved along a direction, wide (float64), with its class and order of memory."""
    if isinstance(value, list):
        return (np.array(value) + amount * along).tolist()
    if not isinstance(value, np.ndarray):
        found = value + amount * along[()]
        return type(value)(found) if type(value) in (float, complex, np.float64, np.complex128) else found
    wide = value.astype(np.result_type(value.dtype, np.float64), order="K", copy=True)
    np.asarray(wide)[...] += amount * along
    return wide


def like(value, along):
    """A direction as a tangent for an argument: of its class."""
    if isinstance(value, list):
        return along.tolist()
    if not isinstance(value, np.ndarray):
        return type(value)(along[()])
    return along.astype(value.dtype) if type(value) is np.ndarray else value.__array_wrap__(along.astype(value.dtype))


def plain(value):
    """The numbers of a value."""
    return np.asarray(np.ma.getdata(value) if isinstance(value, np.ma.MaskedArray) else value)


def pairing(a, b):
    return float(np.real(np.sum(plain(a) * plain(b))))


# --- what is expected -------------------------------------------------------------------------------------------------


class Known:
    """A call, its arguments and its results, and differences of them."""

    def __init__(self, call):
        self.call, self.values = call, call.values()
        self.f = call.function()
        result = self.f(*call.values())
        self.parts = numbers(result)
        if not self.parts:
            raise Unfit("no floats in the result")
        if not same(self.f(*call.values()), result):
            raise Unfit("another result each time")
        if not all(np.all(np.isfinite(plain(part))) and np.all(np.abs(plain(part)) < 1e5) for _, part in self.parts):
            raise Unfit("no moderate result")
        self.result = result
        self.active = [place for place, value in enumerate(self.values) if is_active(value)]
        if not self.active:
            raise Unfit("nothing to differentiate")
        if call.rule.kind == "straight_through" and any(map(np.iscomplexobj, self.values)):
            raise Unfit("complex numbers have no policies")
        self.narrow = any(
            np.asarray(x).dtype in (np.float32, np.complex64) for x in [*self.values, *(part for _, part in self.parts)]
        )
        self.weights = {f"w{k}": weight(part, call.seed, k) for k, (_, part) in enumerate(self.parts)}
        self.loss = call.function(self.loss_text(), self.weights)
        self.rtol = 5e-3 if self.narrow else 2e-6

    def loss_text(self):
        terms = []
        for k, (path, part) in enumerate(self.parts):
            squares = f"w{k} * numpy.square({path.replace('{}', '{0}')})"
            if isinstance(part, (np.matrix, np.ma.MaskedArray)):
                squares = f"numpy.multiply(w{k}, numpy.square({path.replace('{}', '{0}')}))"
            if np.iscomplexobj(part):
                squares = f"numpy.real({squares})"
            terms.append(f"numpy.sum({squares})")
        return " + ".join(terms)

    @functools.cached_property
    def directions(self):
        return [direction(self.call, place, self.values[place], 0) for place in self.active]

    def at(self, f, amounts):
        """A function, its arguments moved by an amount for each."""
        values = self.call.values()
        for place, along, amount in zip(self.active, self.directions, amounts):
            values[place] = moved(values[place], along, amount)
        return f(*values)

    def slopes(self, f, parts):
        """The change of each part of a result by each argument; Unfit where it is not smooth."""
        coarse, fine = (self._slopes(f, parts, step) for step in (1e-3, 4e-4))
        for one, other in zip(coarse, fine):
            for a, b in zip(one, other):
                scale = max(1e-2, float(np.max(np.abs(b), initial=0.0)))
                if not np.all(np.isfinite(b)) or not np.allclose(a, b, rtol=1e-6, atol=1e-6 * scale):
                    raise Unfit("not smooth nearby")
        return fine

    def _slopes(self, f, parts, step):
        found = []
        for k in range(len(self.active)):
            total = None
            for multiple, factor in STENCIL:
                ends = []
                for sign in (1.0, -1.0):
                    amounts = [0.0] * len(self.active)
                    amounts[k] = sign * multiple * step
                    ends.append(parts(self.at(f, amounts)))
                if [np.shape(a) for a in ends[0]] != [np.shape(b) for b in ends[1]]:
                    raise Unfit("another shape nearby")
                terms = [factor * (plain(a) - plain(b)) / step for a, b in zip(*ends)]
                total = terms if total is None else [a + b for a, b in zip(total, terms)]
            found.append(total)
        return found

    @functools.cached_property
    def of_loss(self):
        """The slope of the loss by each argument."""
        return [float(one[0]) for one in self.slopes(self.loss, lambda value: [value])]

    @functools.cached_property
    def of_parts(self):
        """The change of each part by each argument."""
        return self.slopes(self.f, lambda result: [part for _, part in numbers(result)])

    @functools.cached_property
    def curvature(self):
        """The second derivative of the loss along all directions."""
        found = []
        for step in (2e-2, 1e-2):
            values = [float(self.at(self.loss, [k * step] * len(self.active))) for k in range(-3, 4)]
            weights = (2, -27, 270, -490, 270, -27, 2)
            found.append(math.fsum(w * v for w, v in zip(weights, values)) / (180.0 * step * step))
        if not np.isfinite(found[1]) or not math.isclose(*found, rel_tol=1e-4, abs_tol=1e-4):
            raise Unfit("not smooth nearby")
        return found[1]


def weight(part, seed, k):
    rng = np.random.default_rng([seed, k, 13])
    return np.asarray(rng.uniform(0.5, 1.5, np.shape(part)))[()]


def same(one, other):
    pairs = zip(numbers(one), numbers(other))
    return all(np.array_equal(plain(a), plain(b), equal_nan=True) for (_, a), (_, b) in pairs)


# --- the modes --------------------------------------------------------------------------------------------------------


def close(got, want, rtol, scale=0.0):
    scale = max(1e-2, scale, float(np.max(np.abs(want), initial=0.0)))
    return np.allclose(got, want, rtol=rtol, atol=rtol * scale)


def options(**given):
    return {"nonsmooth": "zero", **given}


def check_form(got, value, what):
    """A gradient has the class, the shape and the dtype of its argument."""
    if isinstance(value, list):
        alike = isinstance(got, list) and np.shape(got) == np.shape(value)
    else:
        kind = (np.ndarray,) if isinstance(value, np.ndarray) else (type(value), float, complex)
        alike = isinstance(got, kind) and np.shape(got) == np.shape(value)
        alike = alike and (np.asarray(got).dtype == np.asarray(value).dtype)
    if not alike:
        raise Wrong(f"form of {what}: {got!r} for {value!r}")


def check_value(got, known, want):
    if not close(np.asarray(got, np.result_type(got, float)), want, 1e-4 if known.narrow else 1e-9):
        raise Wrong(f"value: got {got!r}, expected {want!r}")


def gradient(known, f, backend=None):
    """The gradient of the loss by the arguments, each compared along its direction."""
    wanted = known.of_loss
    f = s2s.differentiable(f, **options(**({"backend": backend} if backend else {})))
    value, found = s2s.value_and_grad(f, argnums=tuple(known.active))(*known.call.values())
    check_value(value, known, float(known.loss(*known.call.values())))
    for place, got, along, want in zip(known.active, found, known.directions, wanted):
        check_form(got, known.values[place], f"gradient by {place}")
        scale = float(np.sum(np.abs(plain(got) * along)))
        found = pairing(got, along)
        if not np.isfinite(found):
            raise Wrong(f"nan: the gradient by {place} is {got!r}, along {along.tolist()} it is {want}")
        if not close(found, want, known.rtol, 0.1 * scale):
            raise Wrong(f"gradient by {place}: along a direction {found}, expected {want}; {got!r}")


def reverse(known):
    gradient(known, known.loss)


def numba(known):
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumbaFallbackWarning)
        try:
            gradient(known, known.loss, "numba")
        except NumbaFallbackWarning as warning:
            raise Unfit(f"fallback: {str(warning)[:60]}") from None


def tangents(known):
    found = [None] * len(known.values)
    for place, along in zip(known.active, known.directions):
        found[place] = like(known.values[place], along)
    return tuple(found)


def forward(known):
    wanted = [sum(changes) for changes in zip(*known.of_parts)]
    out, turned = s2s.jvp(s2s.differentiable(known.f, **options()), tuple(known.call.values()), tangents(known))
    parts = numbers(out)
    if [path for path, _ in parts] != [path for path, _ in known.parts]:
        raise Wrong(f"value of jvp: {out!r}, expected {known.result!r}")
    for (_, got), (_, want) in zip(parts, known.parts):
        alike = isinstance(got, np.ndarray) == isinstance(want, np.ndarray) and np.shape(got) == np.shape(want)
        if not alike or plain(got).dtype != plain(want).dtype:
            raise Wrong(f"form of the value of jvp: {got!r}, expected {want!r}")
        check_value(plain(got), known, plain(want))
    for k, (path, part) in enumerate(known.parts):
        got = plain(functools.reduce(lambda tree, key: tree[key], keys_of(path), turned))
        if got.shape != np.shape(part) or got.dtype != plain(part).dtype:
            raise Wrong(f"form of the tangent: {got!r} for {part!r}")
        scale = max(float(np.max(np.abs(change[k]), initial=0.0)) for change in known.of_parts)
        if not close(got, wanted[k], known.rtol, scale):
            kind = "tangent" if np.all(np.isfinite(got)) else "nan: the tangent"
            raise Wrong(f"{kind} of part {k}: {got.tolist()}, expected {wanted[k].tolist()}")


def keys_of(path):
    """The keys of a path such as ``{}[0]['a']``."""
    return [eval(key) for key in path.removeprefix("{}").strip("[]").split("][") if key]


def second(known):
    want = known.curvature
    known.of_loss  # noqa: B018  where it is not smooth there is no second derivative
    values, along = tuple(known.call.values()), tangents(known)
    found = s2s.hvp(s2s.differentiable(known.loss, **options()), values, along, argnums=tuple(known.active))
    terms = [pairing(one, d) for one, d in zip(found, known.directions)]
    scale = 0.1 * sum(float(np.sum(np.abs(plain(one) * d))) for one, d in zip(found, known.directions))
    if not close(sum(terms), want, 5e-2 if known.narrow else 1e-4, max(1.0, scale)):
        kind = "second" if np.isfinite(sum(terms)) else "nan: second"
        raise Wrong(f"{kind} derivative along a direction: {sum(terms)}, expected {want}")


def jacobian(known, transform):
    if len(known.parts) != 1 or known.parts[0][0] != "{}":
        raise Unfit("fallback: several results")
    if any(isinstance(value, list) for value in known.values):
        raise Unfit("fallback: a list")
    if any(np.iscomplexobj(x) for x in [known.result, *known.values]):
        raise Unfit("fallback: complex")
    wanted = known.of_parts
    f = s2s.differentiable(known.f, **options())
    found = transform(f, argnums=tuple(known.active))(*known.call.values())
    for place, got, along, (want,) in zip(known.active, found, known.directions, wanted):
        got = np.asarray(plain(got), float)
        if got.shape != (*np.shape(known.result), *np.shape(known.values[place])):
            raise Wrong(f"form of the Jacobian by {place}: {got.shape}")
        along_it = np.tensordot(got, along, np.ndim(along)) if np.ndim(along) else got * along
        if not close(along_it, want, known.rtol):
            kind = "Jacobian" if np.all(np.isfinite(got)) else "nan: Jacobian"
            raise Wrong(f"{kind} by {place}: along a direction {along_it.tolist()}, expected {want.tolist()}")


CHECKS = {
    "reverse": reverse, "forward": forward, "second": second, "jacrev": lambda known: jacobian(known, s2s.jacrev),
    "jacfwd": lambda known: jacobian(known, s2s.jacfwd), "numba": numba,
}  # fmt: skip


# --- models -----------------------------------------------------------------------------------------------------------


def difference_from_model(call):
    """What the model of a function gives otherwise than the function, as text; nothing where it refuses the call, or
    raises, which is a refusal too. It runs as it is written, without the compiler."""
    try:
        with np.errstate(all="ignore"):
            args, kwargs = call.arguments()
            want = numbers(call.rule.fn(*args, **kwargs))
    except Exception:
        return ""
    if any(type(value) not in (float, np.ndarray) for value in call.values()):
        return ""
    if not want or not all(np.all(np.isfinite(plain(part))) for _, part in want):
        return ""
    if any(np.any((0.0 < np.abs(plain(part))) & (np.abs(plain(part)) < 1e-300)) for _, part in want):
        return ""  # integers read as floats: SciPy's filters do that with a state
    try:
        with np.errstate(all="ignore"):
            args, kwargs = call.arguments()
            got = numbers(call.rule.body(*call.rule.given, *args, **kwargs))
    except Exception:
        return ""
    for (path, one), (_, other) in zip(want, got):
        one, other = plain(one), plain(other)
        if one.size == other.size == 0:
            continue
        rtol = 2e-4 if np.float32 in (one.dtype, other.dtype) else 1e-7
        if one.shape != other.shape or not np.allclose(other, one, rtol=rtol, atol=rtol):
            return f"{path}: {other.tolist()}, the function gives {one.tolist()}"
    return ""


# --- the verdict ------------------------------------------------------------------------------------------------------


def outcome(call, modes=MODES):
    """The verdict over a call."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with time_limit():
                known = Known(call)
        except Unfit as error:
            return Outcome("skipped", str(error), str(error))
        except Slow:
            return Outcome("skipped", "slow primal")
        except Exception as error:
            return Outcome("skipped", "not taken", f"{type(error).__name__}: {error}")
        done, unfit = [], None
        for mode in modes:
            found = in_mode(known, mode)
            if found.verdict == "skipped":
                unfit = found
            elif found.verdict != "right":
                return dataclasses.replace(found, group=f"{mode}: {found.group}", modes=(*done, mode))
            else:
                done.append(mode)
        return Outcome("right", modes=tuple(done)) if done else unfit or Outcome("skipped", "nothing checked")


def in_mode(known, mode):
    before = [plain(value).copy() for value in known.values]
    try:
        with time_limit(SECONDS * (4 if mode == "numba" else 1)):
            CHECKS[mode](known)
    except Unfit as error:
        return Outcome("skipped", str(error).partition(":")[0], str(error))
    except Wrong as error:
        return Outcome("wrong", str(error).partition(" ")[0].rstrip(":"), str(error))
    except InternalError as error:
        return Outcome("crash", group_of(error), str(error))
    except DifferentiationError as error:
        return Outcome("refused", f"{error.diagnostic.code} {summary(error).partition(': ')[2]}", str(error))
    except Slow:
        return Outcome("slow", "slow", f"more than {SECONDS} s")
    except Exception as error:
        return Outcome("crash", f"{summary(error)}, {where(error)}", f"{type(error).__name__}: {error}")
    if not all(np.array_equal(plain(a), b) for a, b in zip(known.values, before)):
        return Outcome("wrong", "arguments", "the arguments are changed")
    return Outcome("right")


def minimal(call, first, modes):
    """The call with as few changes as fail in the same way."""
    modes = first.modes[-1:] or modes
    kept = list(call.changes)
    for change in list(kept):
        fewer = [one for one in kept if one is not change]
        found = outcome(dataclasses.replace(call, changes=tuple(fewer)), modes)
        if found.verdict == first.verdict and found.group == first.group:
            kept = fewer
    return dataclasses.replace(call, changes=tuple(kept))


def of_seed(seed, modes, functions=None):
    """The call of a seed, None for a function of which none is known, and the verdict over it. One that Numba is to
    compile is of a function that it may know."""
    if functions is None and "numba" in modes:
        functions = compiled_names()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = drawn(seed, functions)
    return call, Outcome("skipped", "no call is known") if call is None else outcome(call, modes)


def minimal_of_seed(seed, modes, functions=None):
    """The minimal call that fails as that of a seed, as text, and its verdict."""
    call, first = of_seed(seed, modes, functions)
    if call is None:
        return "", first
    call = minimal(call, first, modes)
    values = "".join(f"p{place} = {value!r}\n" for place, value in enumerate(call.values()))
    return f"{call}\n{call.text()}\n{values}", outcome(call, first.modes[-1:] or modes)
