"""Derivatives are right wherever their function is: over magnitudes from 1e-300 to 1e300, where squares of what goes in
overflow and underflow.

The elementwise functions of NumPy, ``math``, ``cmath`` and the operators are held against textbook formulas in the
x87 extended format: its exponents go to 4932, so no square of a double leaves it, and it has 11 bits more than they.
A function that is homogeneous, of any kind, has derivatives that are too: those at usual magnitudes, which other tests
hold against differences, say what all others are. Special functions are held against differences over relative steps.
"""

from __future__ import annotations

import cmath
import copy
import functools
import itertools
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.rules import table
from s2s.rules.table import RULES, Rule
from tests.rules.cases import IN_PLACE, Case, aspect, by_module, draws, own, tree
from tests.rules.programs import MODULES, build, path_of

table.extend()

if np.finfo(np.longdouble).maxexp < 16384:
    pytest.skip("the references need a long double of 80 bits or more", allow_module_level=True)

Real = np.longdouble
MAGNITUDES = [
    1.3e-300, 1.7e-200, 1.1e-160, 1.9e-100, 1.3e-20, 1.7e-8, 0.37, 1.6, 30.0, 300.0, 1.3e8, 1.7e20, 1.1e100, 1.9e160,
    1.3e200, 1.7e300,
]
"""Those that the domain of a function leaves of them are its arguments, with both signs; pairs of all of them where it
has two."""
COTANGENTS = [1.0, 1.3e-150, 1.7e-20, 1.7e20, 1.3e150]
"""A derivative is multiplied with what comes from the rest of a program: the product with each of these is right too
where both the derivative and the product can be represented."""
RELATIVE = 1e-12
"""A derivative has few operations that each round to 2^-53, about 1e-16: most are right to 1e-15. A logarithm of a
thousand, or a power of it, multiplies that by the thousand."""
OF_VALUE = 1e-14
"""How right a function has to be itself, where its derivative is asked for."""
SMALLEST, LARGEST = Real(np.finfo(float).tiny), Real(np.finfo(float).max)


# --- elementwise functions: textbook formulas -----------------------------------------------------------------------


def _gamma_slope(x: Any) -> Any:
    """The digamma function far from 1 (Abramowitz and Stegun 6.3.5, 6.3.14, 6.3.18); no number between."""
    near = np.abs(x) < 1e-6
    small = -1 / x - Real("0.57721566490153286060651209") + (Real(np.pi) ** 2 / 6) * x
    large = np.log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * x**4)
    return np.where(near, small, np.where(x > 1e3, large, np.nan))


def _i0_slope(x: Any) -> Any:
    """I1, by its series, of positive terms (Abramowitz and Stegun 9.6.10)."""
    total, term = np.zeros_like(x), x / 2
    for k in range(1, 1200):
        total, term = total + term, term * (x / 2) ** 2 / (k * (k + 1))
    return total


def _sinc_slope(x: Any) -> Any:
    t = Real("3.14159265358979323846264338") * x
    near = np.abs(t) < 1e-4
    series = -t / 3 + t**3 / 30
    return Real("3.14159265358979323846264338") * np.where(near, series, (np.cos(t) - np.sin(t) / t) / t)


LN2, LN10, PI = np.log(Real(2)), np.log(Real(10)), Real("3.14159265358979323846264338")

TEXTBOOK: dict[Any, tuple[Callable[..., Any] | None, ...]] = {
    np.sin: (np.cos,),
    np.cos: (lambda x: -np.sin(x),),
    np.tan: (lambda x: 1 / np.cos(x) ** 2,),
    np.arcsin: (lambda x: 1 / np.sqrt(1 - x * x),),
    np.arccos: (lambda x: -1 / np.sqrt(1 - x * x),),
    np.arctan: (lambda x: 1 / (1 + x * x),),
    np.sinh: (np.cosh,),
    np.cosh: (np.sinh,),
    np.tanh: (lambda x: 1 / np.cosh(x) ** 2,),
    np.arcsinh: (lambda x: 1 / np.sqrt(1 + x * x),),
    np.arccosh: (lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)),),
    np.arctanh: (lambda x: 1 / (1 - x * x),),
    np.exp: (np.exp,),
    np.exp2: (lambda x: LN2 * np.exp2(x),),
    np.expm1: (np.exp,),
    np.log: (lambda x: 1 / x,),
    np.log2: (lambda x: 1 / (LN2 * x),),
    np.log10: (lambda x: 1 / (LN10 * x),),
    np.log1p: (lambda x: 1 / (1 + x),),
    np.sqrt: (lambda x: 1 / (2 * np.sqrt(x)),),
    np.cbrt: (lambda x: 1 / (3 * np.cbrt(x) ** 2),),
    np.square: (lambda x: 2 * x,),
    np.reciprocal: (lambda x: -1 / x**2,),
    np.negative: (lambda x: -np.ones_like(x),),
    np.positive: (np.ones_like,),
    np.deg2rad: (lambda x: np.full_like(x, PI / 180),),
    np.rad2deg: (lambda x: np.full_like(x, 180 / PI),),
    np.sinc: (_sinc_slope,),
    np.i0: (_i0_slope,),
    np.absolute: (lambda x: np.conj(x) / np.abs(x),),
    np.fabs: (np.sign,),
    np.nan_to_num: (np.ones_like,),
    np.floor: (np.ones_like,),
    np.ceil: (np.ones_like,),
    np.rint: (np.ones_like,),
    np.trunc: (np.ones_like,),
    np.round: (np.ones_like,),
    math.erf: (lambda x: 2 / np.sqrt(PI) * np.exp(-x * x),),
    math.erfc: (lambda x: -2 / np.sqrt(PI) * np.exp(-x * x),),
    math.gamma: (lambda x: np.where(np.abs(x) < 1e-15, -1 / x**2, np.nan),),
    math.lgamma: (_gamma_slope,),
    np.add: (lambda a, b: np.ones_like(a), lambda a, b: np.ones_like(a)),
    np.subtract: (lambda a, b: np.ones_like(a), lambda a, b: -np.ones_like(a)),
    np.multiply: (lambda a, b: b, lambda a, b: a),
    np.divide: (lambda a, b: 1 / b, lambda a, b: -a / b**2),
    np.floor_divide: (lambda a, b: 1 / b, lambda a, b: -a / b**2),
    np.power: (lambda a, b: b * a ** (b - 1), lambda a, b: a**b * np.log(a)),
    np.remainder: (lambda a, b: np.ones_like(a), lambda a, b: -np.floor(a / b)),
    np.fmod: (lambda a, b: np.ones_like(a), lambda a, b: -np.trunc(a / b)),
    math.remainder: (lambda a, b: np.ones_like(a), lambda a, b: -np.rint(a / b)),
    np.hypot: (lambda a, b: a / np.sqrt(a * a + b * b), lambda a, b: b / np.sqrt(a * a + b * b)),
    np.arctan2: (lambda a, b: b / (a * a + b * b), lambda a, b: -a / (a * a + b * b)),
    np.logaddexp: (lambda a, b: 1 / (1 + np.exp(b - a)), lambda a, b: 1 / (1 + np.exp(a - b))),
    np.logaddexp2: (lambda a, b: 1 / (1 + np.exp2(b - a)), lambda a, b: 1 / (1 + np.exp2(a - b))),
    np.maximum: (lambda a, b: (a > b) + (a == b) / 2, lambda a, b: (a < b) + (a == b) / 2),
    np.minimum: (lambda a, b: (a < b) + (a == b) / 2, lambda a, b: (a > b) + (a == b) / 2),
    np.copysign: (lambda a, b: np.sign(a) * np.sign(b), lambda a, b: np.zeros_like(a)),
    np.heaviside: (lambda a, b: np.zeros_like(a), lambda a, b: np.zeros_like(a)),
    np.emath.logn: (lambda n, x: -np.log(x) / (n * np.log(n) ** 2), lambda n, x: 1 / (x * np.log(n))),
}
"""The derivatives of a function by its arguments, in arrays of the extended format."""

NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "radians": "deg2rad", "degrees": "rad2deg", "atan2": "arctan2", "pow": "power", "float_power": "power",
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "neg": "negative", "pos": "positive",
    "mod": "remainder", "floordiv": "floor_divide", "abs": "absolute", "fmax": "maximum", "fmin": "minimum",
    "around": "round", "fix": "trunc", "int": "trunc",
}
"""What a function is called in ``TEXTBOOK``, where that is another name."""

ELSEWHERE = ("ldexp", "fma", "clip")
"""Multiplications, by a power of two and with a sum, and choices: what they have is a factor of 1 or an argument."""


def reference(rule: Rule) -> Any:
    """The function of ``TEXTBOOK`` that a rule is for, None where there is none."""
    if rule.fn in TEXTBOOK:
        return rule.fn
    name = rule.fn.__name__
    if rule.kind == "straight_through" and len(rule.partials) == 1:
        return np.trunc
    found = getattr(np, NAMES.get(name, name), None)
    return found if found in TEXTBOOK else None


PACKAGES = ("math.", "cmath.", "operator.", "builtins.", "numpy.", "_operator.", "abs", "pow", "int", "round")


def elementwise() -> Iterator[tuple[Rule, str]]:
    for rule in RULES.values():
        path = path_of(rule.fn)
        if path is None or not path.startswith(PACKAGES) or rule.fn in IN_PLACE:
            continue
        if rule.kind in ("partials", "straight_through") or (rule.kind == "vjp" and reference(rule) is not None):
            yield rule, path


def of_complex() -> Iterator[tuple[Rule, str]]:
    """The functions of one argument that take complex numbers."""
    for rule, path in elementwise():
        loops = getattr(rule.fn, "types", [])
        if path.startswith("cmath.") or ("D->D" in loops or "D->d" in loops):
            if reference(rule) is not None and len(TEXTBOOK[reference(rule)]) == 1:
                yield rule, path


def program(path: str, count: int, folder: Any) -> Callable[..., Any]:
    """The function in a file of its own, so that its source is found."""
    parameters = ", ".join(["a", "b"][:count])
    imports = "\n".join(f"import {m.__name__}" for m in MODULES)
    return build(f"{imports}\n\n\ndef f({parameters}):\n    return {path}({parameters})\n", {}, folder)


SATURATED = (np.tanh, np.tan)
"""Their derivatives, of ``tan`` those far from the real line, are 1 and a square of what was computed anyway: right to
the last digit of 1."""


def is_representable(x: Any) -> Any:
    return (np.abs(x) >= SMALLEST) & (np.abs(x) <= LARGEST)


def assert_right(found: Any, slopes: Any, factor: float, asked: Any, where: Any, coarse: bool = False) -> None:
    """That what a derivative times a factor was found to be is that of the reference, where both can be represented."""
    wanted = slopes * Real(factor)
    size = np.abs(wanted)
    slack = 2.0**-52 * np.abs(Real(factor)) if coarse else Real(0)
    right = np.abs(found - wanted) <= RELATIVE * size + slack
    seen = asked & is_representable(slopes) & is_representable(wanted)
    # what is too small for a number is no large one
    lost = asked & (np.abs(slopes) < SMALLEST) & (size < SMALLEST)
    wrong = (seen & ~right) | (lost & ~(np.abs(found) <= 2 * SMALLEST + slack))
    if np.any(wrong):
        k = int(np.argmax(wrong))
        count, place = np.count_nonzero(wrong), [x[k] for x in where]
        raise AssertionError(f"{count} wrong, the first times {factor} at {place}: {found[k]}, not {wanted[k]}")


class Call:
    """A function of numbers at many places: of arrays where it takes them, else one number after another."""

    def __init__(self, f: Any, points: list[Any], arrays: bool) -> None:
        self.f, self.arrays, self.points = f, arrays, points
        self.none: Any = np.nan
        self.ys = self.each(f)

    def each(self, call: Any) -> Any:
        if self.arrays:
            return call(*self.points)
        made = [self.one(call, point) for point in zip(*(x.tolist() for x in self.points), strict=True)]
        shape = max(np.shape(y) for y in made)
        return np.array([np.broadcast_to(y, shape) for y in made]).astype(self.points[0].dtype)

    def one(self, call: Any, point: Any) -> Any:
        try:
            y = self.f(*point)
        except (ValueError, ArithmeticError):
            return self.none  # there, or for floats, it has no value
        return call(*point) if is_finite(y) else self.none

    def reverse(self, factor: float) -> Any:
        """The cotangents of each argument where that of the result is the factor."""
        made = self.each(lambda *point: s2s.vjp(self.f, *point)[1](self.like(factor, self.ys)))
        return made if self.arrays else np.moveaxis(made, -1, 0)

    def forward(self, factor: float, k: int, others: Any) -> Any:
        """The tangent of the result where that of one argument is the factor."""
        rest = others if others is None else self.like(others, self.points[0])
        turned = [self.like(factor, self.points[0]) if i == k else rest for i, _ in enumerate(self.points)]
        return self.each(lambda *point: s2s.jvp(self.f, point, turned)[1])

    def like(self, factor: float, array: Any) -> Any:
        dtype = np.result_type(array.dtype, float)
        return np.full(array.shape, factor, dtype) if self.arrays else dtype.type(factor).item()


def is_finite(y: Any) -> bool:
    return (isinstance(y, int) and abs(y) < LARGEST) or (isinstance(y, (float, complex)) and cmath.isfinite(y))


def check(call: Call, known: Any, factors: list[float]) -> None:
    """That derivatives of a call, in both modes, are those that the textbook has."""
    wide = [x.astype(np.result_type(x, Real)) for x in call.points]
    slopes = [formula(*wide) for formula in TEXTBOOK[known]]
    asked = np.isfinite(call.ys) & has_digits(known, call.ys, wide)
    assert np.count_nonzero(asked) > 5
    representable = functools.reduce(operator.and_, [is_representable(slope) | (slope == 0) for slope in slopes])
    for factor in factors:
        found = call.reverse(factor)
        for k, slope in enumerate(slopes):
            say = functools.partial(
                assert_right, slopes=slope, factor=factor, where=call.points, coarse=known in SATURATED
            )
            say(found[k], asked=asked)
            say = say if np.iscomplexobj(call.ys) else functools.partial(say, slopes=np.real(slope))
            say(call.forward(factor, k, None), asked=asked)
            if len(slopes) > 1:
                say(call.forward(factor, k, 0.0), asked=asked & representable)


def by_package(rules: Iterator[tuple[Rule, str]]) -> list[Any]:
    """The rules with their paths, in groups."""
    found: dict[str, list[tuple[Rule, str]]] = {}
    for rule, path in rules:
        found.setdefault(path.rpartition(".")[0] or "builtins", []).append((rule, path))
    parts = [(name, k, some[k : k + 12]) for name, some in found.items() for k in range(0, len(some), 12)]
    return [pytest.param(some, id=f"{name}-{k}") for name, k, some in parts]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("rules", by_package(elementwise()))
def test_elementwise_rules_are_right_at_every_magnitude(rules: list[tuple[Rule, str]], tmp_path: Any) -> None:
    for rule, path in rules:
        with aspect("at every magnitude", rule):
            check_magnitudes(rule, path, tmp_path)


def check_magnitudes(rule: Rule, path: str, folder: Any) -> None:
    known = reference(rule)
    if known is None:
        assert rule.fn.__name__ in ELSEWHERE, "a function without a textbook formula"
        return
    count = len(TEXTBOOK[known])
    arrays = path.startswith("numpy.")
    few = not arrays and count > 1  # one call for each place
    rows = itertools.product(MAGNITUDES[::2] if few else MAGNITUDES, repeat=count)
    signs = itertools.product((1.0, -1.0), repeat=count)
    both = [tuple(map(operator.mul, row, sign)) for row, sign in itertools.product(rows, list(signs))]
    points = [np.array(x) for x in zip(*both, strict=True)]
    with np.errstate(all="ignore"):
        check(Call(program(path, count, folder), points, arrays), known, COTANGENTS[:3] if few else COTANGENTS)


@pytest.mark.parametrize("rules", by_package(of_complex()))
def test_elementwise_rules_are_right_for_large_and_small_complex_numbers(
    rules: list[tuple[Rule, str]], tmp_path: Any
) -> None:
    for rule, path in rules:
        with aspect("of large and small complex numbers", rule):
            check_complex(rule, path, tmp_path)


def check_complex(rule: Rule, path: str, folder: Any) -> None:
    points = [np.array([m * np.exp(1j * turn) for m in MAGNITUDES for turn in (0.3, 1.9, -0.8, -2.2)])]
    with np.errstate(all="ignore"):
        check(Call(program(path, 1, folder), points, path.startswith("numpy.")), reference(rule), COTANGENTS)


def has_digits(known: Any, ys: Any, wide: list[Any]) -> Any:
    """Where the function itself is right: what is left of an argument after many turns is no digit of it."""
    if not isinstance(known, np.ufunc) and known is not np.sinc:
        return True
    exact = known(*wide)
    return np.abs(ys - exact) <= OF_VALUE * np.abs(exact)


# --- homogeneous functions: what scaling says -----------------------------------------------------------------------

EXPONENTS = [66, 332, 531, 664, 996, -66, -332, -531, -664, -996]


def scaled(case: Case, names: list[str], scale: float) -> Case:
    """The case with some of its arguments multiplied."""
    made = copy.copy(case)
    made.leaves = {n: [own(x * scale, x) if n in names else x for x in xs] for n, xs in case.leaves.items()}
    made.y = made.primal({})
    return made


def leaves_of(y: Any) -> list[Any]:
    return [np.asarray(leaf) for leaf in tree(y) if leaf is not None]


def degree(case: Any, others: list[Any]) -> float | None:
    """The power of two that a result was multiplied by for each power of two, 0 where a multiple of its exponent was
    added; None where it was neither."""
    if any(y.shape != case.shape for y in others) or case.dtype.kind not in "fc" or not np.all(np.isfinite(case)):
        return None
    large = np.abs(case) > 1e-9 * np.max(np.abs(case), initial=0.0)
    if not np.any(large):
        return None
    powers = [float(np.median(np.log2(np.abs(y[large] / case[large])))) / k for k, y in zip(PROBES, others)]
    if all(is_same(y, case * 2.0 ** (k * powers[0])) for k, y in zip(PROBES, others)):
        return round(powers[0], 9)
    added = [(y - case) / k for k, y in zip(PROBES, others)]
    return 0.0 if all(np.all(np.abs(step - np.real(added[0].flat[0])) < 1e-9) for step in added) else None


PROBES = (11, -13, 5)


def degrees(case: Case, names: list[str]) -> list[float] | None:
    """The degrees of the results of a call in some of its arguments, None where it is not homogeneous in them."""
    others = [leaves_of(scaled(case, names, 2.0**k).y) for k in PROBES]
    found = [degree(*row) for row in zip(leaves_of(case.y), zip(*others, strict=True), strict=True)]
    return found if found and None not in found else None  # type: ignore[return-value]


def is_same(found: Any, wanted: Any) -> bool:
    """Whether two arrays agree, relative to the largest entry."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    slack = 1e-9 * np.max(np.abs(wanted), initial=0.0)
    return found.shape == wanted.shape and bool(np.all(np.abs(found - wanted) <= slack))


def is_multiple(found: Any, y: Any, factor: float) -> bool:
    """Whether a result is what it should be: so many times another one, or with a number added to a logarithm."""
    added = np.broadcast_to(found.flat[0] - y.flat[0], y.shape)
    return is_same(found, y * factor) or (factor == 1.0 and is_same(found - y, added))


def with_powers(y_bar: Any, y: Any, powers: Iterator[float]) -> Any:
    if y is None:
        return None
    if isinstance(y, (list, tuple)):
        return tuple(with_powers(a, b, powers) for a, b in zip(y_bar, y, strict=True))
    return y_bar * next(powers)


def homogeneous() -> Iterator[Rule]:
    for rule in RULES.values():
        if rule.kind in ("vjp", "linear", "partials", "several") and rule.samples and rule.fn not in IN_PLACE:
            yield rule


OF_SOLVERS = {
    "sqrtm": "SciPy's solver of Sylvester's equation, which its rule calls, is wrong for tiny matrices",
    "solve_continuous_lyapunov": "the same solver is wrong for huge right sides",
    "solve_continuous_are": "a tiny equation is solved to an absolute tolerance",
    "gradient_bar": "np.gradient, which its reverse calls, squares the steps",
    "filtered": "the reverse filter divides a tiny cotangent by a huge coefficient first",
}
"""Rules that are right at moderate magnitudes only, and why."""

OF_DEGREE = {"numpy.lib.scimath.power": "p"}
"""Arguments that are the degree themselves: the derivative by them is y log(x), so that scaling x by 2^k adds
k log(2) y to it. For positive x it is held against ``TEXTBOOK`` instead."""


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("rules", by_module(homogeneous()))
def test_homogeneous_rules_are_right_at_every_magnitude(rules: list[Rule]) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rule, sample in ((rule, sample) for rule in rules for sample in rule.samples[:4]):
            with aspect("at every magnitude", rule, sample):
                check_homogeneous(Case(rule, sample))


def check_homogeneous(case: Case) -> None:
    if case.active and leaves_of(case.y):
        for names in {tuple(case.active): 0, **{(name,): 0 for name in case.active}}:
            check_scales(copy.copy(case), list(names))


def check_scales(case: Case, names: list[str]) -> None:
    try:
        powers = degrees(case, names)
    except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError):
        return
    if powers is None:
        return
    other = leaves_of(scaled(case, names, 2.0).y)
    if any(p == 0 and not is_same(a, b) for p, a, b in zip(powers, leaves_of(case.y), other, strict=True)):
        case.active = names  # a logarithm: what is added to it may depend on the other arguments
    case.active = [name for name in case.active if name != OF_DEGREE.get(case.rule.name)]
    before, tangent = case.cotangents(), case.tangent()
    for k in EXPONENTS if case.rule.fn.__name__ not in OF_SOLVERS else (66, -66):
        factors = [float(np.exp2(k * p)) for p in powers]
        sizes = [*factors, *(float(np.exp2(-k * p)) for p in powers), *(float(np.exp2(k * (p - 1))) for p in powers)]
        if not all(1e-300 < size < 1e300 for size in sizes):
            continue  # the derivative is no number of a usual size
        try:
            there = scaled(case, names, 2.0**k)
        except (ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError):
            continue
        if not all(map(is_multiple, leaves_of(there.y), leaves_of(case.y), factors)):
            continue  # the function itself is wrong there
        # what comes from the rest of the program is that of a change of the same relative size
        there.y_bar = with_powers(case.y_bar, case.y, iter([1.0 / factor for factor in factors]))
        turned = case.directions
        there.directions = {n: [own(d * 2.0**k, d) if n in names else d for d in turned[n]] for n in turned}
        found = there.cotangents()
        for name, wanted in before.items():
            for g, w in zip(found[name], wanted, strict=True):
                expected = w * 2.0**-k if name in names else w
                assert is_same(g, expected), (names, name, k, powers, case.sample, g, expected)
        moved = with_powers(tangent, case.y, iter(factors))
        for g, w in zip(leaves_of(there.tangent()), leaves_of(moved), strict=True):
            assert is_same(g, w), (names, "forward", k, powers, case.sample, g, w)


# --- functions that no formula and no scaling tells of: differences --------------------------------------------------

STEPS = (1e-2, 5e-3)
PLACES = [1e-300, 1e-160, 1e-100, 1e-20, 1e-8, 1e-3, 30.0, 300.0, 1e8, 1e20, 1e100, 1e160, 1e300]


def central(f: Callable[[float], Any], h: float) -> Any:
    """The derivative of ``f(1 + t)`` at 0 by differences of eighth order."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (f(1.0 + k * h) - f(1.0 - k * h)) for k, w in enumerate(weights, 1)) / h


OSCILLATES = "struve it2j0y0 modfresnelp modfresnelm ellipkinc ellipeinc ellipj"
"""What oscillates between the places of the differences, which take that for a slope."""
OF_LIBRARY = (
    "kelvin it2struve0 besselpoly log_wright_bessel gammaincinv gammainccinv betaincinv betainccinv stdtrit chdtri "
    "gdtria gdtrib gdtrix pdtrik btdtria btdtrib fdtr fdtri fdtridfd bdtrik bdtrin nbdtrik elliprg _beta_ppf "
    "_invgauss_isf _ncx2_isf fdtrc agm _spherical_jn_d _spherical_in_d"
)
"""Functions that are made of those of SciPy which have too few digits there, most of them inverse ones at tiny or huge
shapes."""
SLOW = "hyp1f1 pro_rad1 obl_rad1 pro_rad1_cv obl_rad1_cv nctdtrit _nct_isf"
"""Functions that take minutes for one huge argument."""


def places_of(fn: Any) -> list[float]:
    if fn.__name__ in SLOW.split():
        return [0.7]
    is_weak = fn.__name__ in f"{OSCILLATES} {OF_LIBRARY}".split()
    return [place for place in PLACES if not is_weak or place == 30.0]


def of_special() -> Iterator[Rule]:
    for rule in RULES.values():
        if rule.kind in ("partials", "several") and rule.name.startswith("scipy.special") and rule.samples:
            yield rule


@pytest.mark.slow
def test_special_functions_are_right_at_every_magnitude() -> None:
    """One argument after another goes over the magnitudes. Where two differences over relative steps agree, so that the
    function is smooth there and has the digits, the derivative agrees with them."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rule in of_special():
            case = Case(rule, rule.samples[0])
            for name in case.active:
                (draw,) = draws(case.template[name])
                for place in places_of(rule.fn) if draw.shape in (None, ()) else ():
                    for sign in (1.0, -1.0) if draw.low < 0 else (1.0,):
                        with aspect(f"at {name} = {sign * place}", rule):
                            check_place(copy.copy(case), name, sign * place)


def check_place(case: Case, name: str, place: float) -> None:
    case.leaves, case.active = {**case.leaves, name: [place]}, [name]

    def results(factor: float) -> Any:
        return np.array([complex(leaf).real for leaf in leaves_of(case.primal({name: [factor * place]}))])

    try:
        case.y = case.primal({})
        ys, (wide, narrow) = results(1.0), (central(results, h) for h in STEPS)
    except (ValueError, ArithmeticError):
        return
    for k, y in enumerate(ys):
        slope = narrow[k] / place
        is_smooth = abs(wide[k] - narrow[k]) <= 1e-9 * abs(narrow[k]) and abs(narrow[k]) >= 1e-4 * abs(y)
        if is_smooth and all(1e-280 < abs(x) < 1e280 for x in (y, narrow[k], slope)):
            bars = [np.zeros_like(leaf)[()] for leaf in leaves_of(case.y)]
            bars[k] = np.ones_like(bars[k])[()]
            case.y_bar = tuple(bars) if isinstance(case.y, tuple) else bars[0]
            found = case.cotangents()[name][0]
            assert abs(found - slope) <= 1e-7 * abs(slope), (name, place, k, case.leaves, found, slope)
