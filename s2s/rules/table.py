"""The table of derivative rules: a function goes in, found by identity, and its rule comes out.

A rule says how a function is differentiated, in plain functions of arrays that run without the compiler:

    partials(np.tanh, lambda y, x: 1.0 - y * y)                       elementwise: one partial per input
    several(special.sici, lambda y, x: (..., ...))                    elementwise with several results
    linear(np.ravel, a=lambda y_bar, a: np.reshape(y_bar, np.shape(a)))     the transpose, per argument
    vjp(np.linalg.inv, a=lambda y_bar, y: -(y.T @ y_bar @ y.T))       not linear: the cotangent
    jvp(np.linalg.inv, a=lambda a_dot, y: -(y @ a_dot @ y))           its tangent, where the transpose is worse
    zero(np.argmax)                                                   the derivative is zero
    straight_through(np.floor)                                        rounding: a choice, see ``Rule``
    refuse(np.unique, "the set of values has no derivative")          and what to do instead
    model(builtins.sum)(def ...)                                      a function to differentiate in its place
    alias(np.sum, np.ndarray.sum)                                     another name of the same function

A partial is called by position, ``(y, *inputs)`` with ``y`` the result and as many inputs as the rule has
partials, and gives the derivative with respect to one of them. The compiler multiplies, un-broadcasts and
fixes the dtype; so a partial may have any shape that broadcasts.

Every other body asks for what it needs *by name*: ``y_bar`` (the cotangent of the result), ``y`` (the
result), any parameter of the function (one called ``y`` hides the result), and in a tangent
``<parameter>_dot``. What it names is what is kept for the reverse sweep. The cotangent it gives has the shape
and the structure of its argument: a list for a list, a tuple for ``*args``. A differentiated argument for a
parameter without a body is refused, but for options that a rule declares (``harmless``, ``decides``). A cotangent is
linear in ``y_bar``, which its body asks for first, and forward mode takes the transpose of it: a second formula is for
what comes out better by hand, such as a factorisation. A tangent per argument is linear in the ``<parameter>_dot`` that
it names, and the tangents of all arguments are added. Where they share work, one body for all of them is registered
with ``@jvp(fn)``: it gets 0.0 for an argument that has no tangent.

Bodies are inlined from their source, so they close over nothing and use only globals of their module. They
may branch on what the compiler folds: ``axis is None``, ``np.ndim(x) == 2``, ``isinstance(x, np.ndarray)``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from _thread import RLock
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from s2s.core.bounded import Recent
from s2s.core.inspection import MISSING, class_attribute, is_own_module, look_up, public_module
from s2s.core.record import record, replace
from s2s.rules import functions
from s2s.rules.samples import Domain, Draw, Interval, Sample, elementwise_samples

__all__ = [
    "ATTRIBUTES", "PASSIVE_ATTRIBUTES", "RULES", "Rule", "alias", "attribute", "bind", "carries_rule",
    "elementwise_rule", "extend", "find", "flat_for_reals", "give", "has_derivative", "has_rule", "is_refusal",
    "is_settled", "jvp", "kind_by_value", "linear", "model", "partials", "refuse", "requires", "rule_of_user",
    "several", "straight_through", "takes_none", "unsupported", "vjp", "zero",
]

Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)
OPTIONS_OF_UFUNCS = "out=None, where=True, casting='same_kind', order='K', dtype=None, subok=True"
HARMLESS = frozenset(
    {
        "casting", "order", "subok", "kind", "stable", "device", "like", "copy", "overwrite_input", "optimize",
        "workers", "check_finite",
    },
)
RESERVED = frozenset({"y_bar", "y"})


# --- the rule -----------------------------------------------------------------------------------------------


@record
class Rule:
    """How one function is differentiated.

    ``kind`` is one of
      partials          elementwise; ``partials[i]`` is the derivative by the i-th parameter, None for none
      several           elementwise with several results; a partial gives a tuple, one derivative for each result
      straight_through  as partials, by choice: piecewise constant, differentiated as what it rounds
      linear            linear in each argument of ``cotangents`` (``joint``: in all of them together)
      vjp               differentiable; forward mode by ``tangents`` of the arguments, or one ``tangent`` of all, or
                        by the transpose of a body for a cotangent
      zero              the derivative is zero wherever it exists
      refuse            no derivative: ``reason`` says why and what to write instead
      model             ``body`` is differentiated in place of the function
      custom            the user's: ``pullback(out, out_bar, *args, **kwargs)`` gives a cotangent for each positional
                        argument, ``pushforward(out, tangents, *args, **kwargs)`` the tangent of the result; where one
                        of them is None it is the transpose of the other

    ``params`` is the signature that calls are bound to, ``supports`` the parameters that may be passed when
    something active goes in; ``harmless`` are those among them that change the form of the result at most, and
    ``decides`` those that choose which function it is: the rule holds for each of their values. One that is active
    itself gets no derivative, where any other without a cotangent is refused. ``by_value`` says that what kind of array
    the result is depends on values, ``flat_for_reals`` that the derivative is zero where all arguments are real,
    ``takes_none`` that bodies take None for a part of the result without a cotangent, ``always`` that a model
    stands for the function where nothing active goes in too. ``requires`` is a body that calls ``rt.no_derivative``
    where the rule does not hold, in whatever mode. What is ``given`` are constants that a model gets before
    the arguments of the call, and partials after them. ``by_user`` marks the rules of users (``custom``, and
    ``partials``): their bodies are code like any other, with globals and captured variables of their own.

    Functions with rules are pure, and the compiler calls them on examples, where ``rules.functions`` says nothing else.
    """

    fn: Function
    kind: str
    params: inspect.Signature
    partials: tuple[Function | None, ...] = ()
    cotangents: Mapping[str, Function] = MappingProxyType({})
    tangent: Function | None = None
    tangents: Mapping[str, Function] = MappingProxyType({})
    joint: bool = False
    body: Function | None = None
    reason: str = ""
    supports: frozenset[str] = frozenset()
    harmless: frozenset[str] = HARMLESS
    decides: frozenset[str] = frozenset()
    samples: tuple[Sample, ...] = ()
    by_value: bool = False
    flat_for_reals: bool = False
    takes_none: bool = False
    always: bool = False
    given: tuple[Any, ...] = ()
    stores: bool = False
    requires: Function | None = None
    pullback: Callable[..., Any] | None = None
    pushforward: Callable[..., Any] | None = None
    by_user: bool = False

    @property
    def name(self) -> str:
        """The function's name with its module or type, for messages."""
        if _is_method_of_ufunc(self.fn):
            return f"numpy.{self.fn.__self__.__name__}.{self.fn.__name__}"  # type: ignore[attr-defined]
        name = getattr(self.fn, "__name__", None) or _name_in_module(self.fn)
        if is_fortran(self.fn):
            name = name.removeprefix("function ")
            lapack = sys.modules["scipy.linalg.lapack"]
            return f"scipy.linalg.{'lapack' if hasattr(lapack, name) else 'blas'}.{name}"
        if type(self.fn) is np.ufunc and getattr(np, name, None) is not self.fn:
            module = "numpy.linalg._umath_linalg"
            return f"{module if hasattr(sys.modules[module], name) else 'scipy.special'}.{name}"
        if type(self.fn) is FunctionType and "<" not in self.fn.__qualname__:
            name = self.fn.__qualname__  # a method comes with its class
        owner = getattr(self.fn, "__objclass__", None)
        prefix = owner.__name__ if owner else public_module(self.fn) or "numpy"
        return f"{prefix}.{name}"


def _name_in_module(fn: object) -> str:
    """The name that the module of an object, or the package that the module belongs to, has for it."""
    module: str = getattr(fn, "__module__", None) or ""
    for place in (module, module.rpartition(".")[0]):
        for name, value in vars(sys.modules.get(place, object)).items():
            if value is fn:
                return name
    return type(fn).__name__


def is_fortran(fn: object) -> bool:
    """Whether a callable is a function of LAPACK or BLAS, as SciPy has them."""
    return type(fn).__name__ == "fortran"


def _is_method_of_ufunc(fn: object) -> bool:
    return type(fn) is BuiltinFunctionType and type(fn.__self__) is np.ufunc


_rules: dict[int, Rule] = {}
RULES: Mapping[int, Rule]
"""Every rule, by ``id`` of its function (the rule keeps the function alive, so no other object gets that id).
"""

_methods: dict[tuple[int, str], Rule] = {}
"""The rules of methods of ufuncs such as ``np.add.reduce``, which is another object each time: by ``id`` of the ufunc,
and name."""

_attributes: dict[str, Function] = {}
ATTRIBUTES: dict[str, Function]
"""Attributes of an ndarray that carry derivatives, and the function that means each: ``T`` is
``np.transpose``.
"""

PASSIVE_ATTRIBUTES = frozenset(
    {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags", "base", "device"}
)
"""Attributes of an ndarray that have no derivative."""


MODULES = (
    "adjoints", "effects", "numpy.elementwise", "numpy.indexing", "numpy.linalg", "numpy.linalg_eigen", "passive",
    "numpy.polynomials", "numpy.products", "python", "iterating", "ordering", "numpy.reductions", "numpy.ufunc_methods",
    "numpy.nan_reductions",
    "numpy.shape", "numpy.repeating", "numpy.joining", "numpy.ranges", "numpy.sorting", "numpy.statistics",
    "numpy.ufuncs", "numpy.scimath", "numpy.linalg_compiled",
)
"""The modules of this package that register rules, in this order."""

EXTENSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "logging": ("logs",),
    "numpy.fft": ("numpy.fft",), "numpy.random": ("numpy.random", "draws"), "numpy.testing": ("numpy.testing",),
    "scipy.fft": ("scipy.fft", "scipy.fft_compiled"), "scipy.linalg": (
        "scipy.linalg", "scipy.linalg_functions", "scipy.linalg_structured", "scipy.linalg_forward",
        "scipy.linalg_eigen", "scipy.linalg_spaces", "scipy.linalg_schur", "scipy.linalg_reduced", "scipy.lapack",
    ),
    "scipy.special.cython_special": ("scipy.special_compiled",), "scipy.special": (
        "scipy.special", "scipy.special_bessel", "scipy.special_distributions", "scipy.special_polynomials",
        "scipy.special_private", "scipy.special_waves",
    ),
    "scipy.stats": ("scipy.stats",), "scipy._lib": ("scipy.array_api",),
    "scipy._external": ("scipy.array_api",), "scipy.signal": ("scipy.signal",),
    "scipy.ndimage": ("scipy.ndimage",), "scipy.interpolate": ("scipy.interpolate", "scipy.spline_kernels"),
    "scipy.spatial.transform": ("scipy.rotations",),
    "scipy.spatial.distance": ("scipy.distance",), "scipy.sparse": ("scipy.sparse", "scipy.sparse_kernels"),
    "scipy.integrate": ("scipy.calculus",), "scipy.optimize": ("scipy.calculus",),
    "statistics": ("statistics",), "autograd": ("autograd",), "numba": ("numba",),
})
"""Packages whose rules are registered when one of their functions is first looked up, and the modules that have them.
"""

WRAPPERS = ("autograd", "numba")
"""Those of them whose functions stand for functions of other packages, or of the program."""

_ROOTS = frozenset(package.partition(".")[0] for package in EXTENSIONS)

_extended: set[str] = set()

_filling = RLock()
_pending: list[Callable[[], None]] | None = []
"""Rules to register, until the first one is asked for; then None. Generated code imports one of the modules
for a body that it calls: it does not wait for the table."""


_of_users: dict[int, Rule] = {}
"""The rules that users have given to functions, by ``id``: they come before those of this package."""


def find(fn: object) -> Rule | None:
    """The rule of a function, None where there is none. Asked by identity, so any object may be given; one whose class
    has ``__s2s_rule__`` carries its own."""
    if _pending is not None:
        _fill()
    rule = _of_users.get(id(fn)) or _rules.get(id(fn))
    if rule is None and carries_rule(fn):
        return fn.__s2s_rule__  # type: ignore[attr-defined, no-any-return]
    if rule is None and _is_method_of_ufunc(fn):
        return _methods.get((id(fn.__self__), fn.__name__))  # type: ignore[attr-defined]
    if rule is None:
        package = _package_of(fn)
        if package is not None and package not in _extended:
            extend(package)
            rule = _rules.get(id(fn))
    return rule


def carries_rule(fn: object) -> bool:
    """Whether a callable has a rule of its own: an attribute or a property ``__s2s_rule__`` of its class."""
    return class_attribute(type(fn), "__s2s_rule__") is not MISSING


def rule_of_user(fn: object) -> Rule | None:
    """The rule that a user has given to a callable, or that it carries; None where it has none of these."""
    return _of_users.get(id(fn)) or (fn.__s2s_rule__ if carries_rule(fn) else None)  # type: ignore[attr-defined]


def is_by_user(fn: object) -> bool:
    """Whether the rule of a function is one of the user's."""
    rule = find(fn)
    return rule is not None and rule.by_user


def give(rule: Rule) -> None:
    """Give a function the rule of a user, in place of the one that it has."""
    _of_users[id(rule.fn)] = rule
    functions.changed()
    package = str(look_up(rule.fn, "__module__", None)).split(".")[0]
    if package in _NEVER_REBOUND or type(rule.fn) is np.ufunc:
        FOREIGN.append(("give", rule.fn, rule.kind, rule.pullback, rule.pushforward, rule.partials))


_NEVER_REBOUND = ("numpy", "scipy", "math", "cmath", "operator", "_operator", "builtins", "functools", "itertools")
"""Packages whose functions generated code does not guard."""


def has_rule(fn: object) -> bool:
    """Whether a function has a rule. While nothing has asked for one, the rules are not registered for the sake of a
    function that cannot have one: from outside the packages that have rules, with none registered from outside."""
    if rule_of_user(fn) is not None:
        return True
    if _pending is not None and not FOREIGN:
        root = str(look_up(fn, "__module__", None)).split(".")[0]
        if root != "numpy" and all(root != package.split(".")[0] for package in EXTENSIONS):
            return False
    return find(fn) is not None


def is_settled(fn: object) -> bool:
    """Whether the derivative of a call can be written where the call stands: a model that was not written out there
    (one that calls itself) is differentiated when it runs."""
    rule = find(fn)
    return rule is not None and rule.kind != "model"


def _package_of(fn: object) -> str | None:
    """The package in ``EXTENSIONS`` that a function belongs to."""
    if type(fn) is np.ufunc:  # does not say where it is from
        return "scipy.special" if "scipy.special" in sys.modules else None
    if is_fortran(fn):
        name = fn.__name__.removeprefix("function ")  # type: ignore[attr-defined]
        if getattr(sys.modules.get("scipy.interpolate._dfitpack"), name, None) is fn:
            return "scipy.interpolate"
        return "scipy.linalg" if "scipy.linalg" in sys.modules else None
    if type(fn) is types.MethodDescriptorType and fn.__objclass__.__name__ == "SuperLU":  # of ``builtins``, as it says
        return "scipy.sparse" if "scipy.sparse.linalg" in sys.modules else None
    module = look_up(fn, "__module__", None)
    if type(module) is not str:
        return None
    if module.partition(".")[0] not in _ROOTS:
        return None
    return next((p for p in EXTENSIONS if module == p or module.startswith(f"{p}.")), None)


def extend(*packages: str) -> None:
    """Register the rules of packages in ``EXTENSIONS``, of all of them where none is named. Imports the packages.
    """
    for package in packages or EXTENSIONS:
        with _filling:
            if _pending is not None:
                _fill()
            if package not in _extended:
                for module in EXTENSIONS[package]:
                    importlib.import_module(f"s2s.rules.{module}")
                _drop_replaced()
                _extended.add(package)


def __getattr__(name: str) -> Any:
    if name not in ("RULES", "ATTRIBUTES"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _pending is not None:
        _fill()
    return MappingProxyType(_rules) if name == "RULES" else _attributes


def _fill() -> None:
    """Register what the modules of this package put off."""
    global _pending
    with _filling:
        for module in MODULES:
            importlib.import_module(f"s2s.rules.{module}")
        for register in _pending or ():  # none where another thread was first
            register()
        _drop_replaced()
        _pending = None


def _drop_replaced() -> None:
    """Drop the rules of functions of the program: it has put them in the place of a library's before the rules of that
    were registered (``np.tanh = mine``)."""
    for key, rule in [*_rules.items()]:
        if type(rule.fn) is FunctionType:
            module = rule.fn.__globals__.get("__name__", "")
            is_of_program = not is_own_module(module) and module.partition(".")[0] not in _ROOTS
            if is_of_program and not is_from_outside(rule.fn):
                del _rules[key]


FOREIGN: list[tuple[Any, ...]] = []
"""What was registered from outside this package: generated code that is kept on disk depends on it."""


def is_from_outside(fn: object) -> bool:
    """Whether the rule of a function was registered outside of this package: by one who knows what its code does, and
    refuses it all the same."""
    return any(registered[1] is fn for registered in FOREIGN)


def _is_own() -> bool:
    """Whether the registration that runs was written in a module of s2s."""
    frame = sys._getframe(2)
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__")).startswith(f"{__name__.partition('.')[0]}.")


def _later(register: Callable[..., None]) -> Callable[..., None]:
    """The function, put off while nothing has asked for a rule."""

    @functools.wraps(register)
    def put_off(*args: Any, **kwargs: Any) -> None:
        if not _is_own():
            said = {name: value for name, value in kwargs.items() if name not in ("samples", "domain")}
            FOREIGN.append((register.__name__, *args, said))
        if _pending is None:
            register(*args, **kwargs)
        else:
            _pending.append(functools.partial(register, *args, **kwargs))

    return put_off


def bind(rule: Rule, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by the rule's parameter names, defaults filled in; ``*args`` come as one tuple.

    Arguments may be any objects. Raises TypeError where Python would.
    """
    layout = _layout(rule.params)
    if not kwargs and layout.least <= len(args) <= layout.most:
        return {**layout.defaults, **dict(zip(layout.names, args, strict=False))}
    bound = rule.params.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


@record
class _Layout:
    """A signature as calls by position need it: the names of the parameters, how many arguments there are at least and
    at most, and what each is where it is not given. No call is simple where some parameter takes any number of
    arguments, or must be named: at most there are -1."""

    signature: inspect.Signature
    names: tuple[str, ...]
    least: int
    most: int
    defaults: dict[str, Any]


_layouts: Recent[int, _Layout] = Recent(4096)
"""By ``id`` of the signature, which the layout keeps alive."""


def _layout(signature: inspect.Signature) -> _Layout:
    found = _layouts.get(id(signature))
    if found is None:
        parameters = signature.parameters
        required = [p for p in parameters.values() if p.default is p.empty]
        most = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters.values())
        if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in required):
            most = -1
        defaults = {name: p.default for name, p in parameters.items()}
        found = _layouts[id(signature)] = _Layout(signature, tuple(parameters), len(required), most, defaults)
    return found


def unsupported(rule: Rule, bound: Mapping[str, Any]) -> list[str]:
    """The parameters that a call passes, not at their default, and that the rule does not know how to treat.
    """
    return [
        name for name, value in bound.items()
        if name not in rule.supports and not _is_default(rule.params.parameters[name], value)
    ]


def has_derivative(rule: Rule, name: str, forward: bool = False) -> bool:
    """Whether a rule says what the derivative by a parameter is; none is said to be zero."""
    if name in rule.harmless or name in rule.decides or name in _layout(rule.params).names[: len(rule.partials)]:
        return True
    if forward and rule.tangent is not None:
        return f"{name}_dot" in _names_in(rule.tangent)
    return name in rule.cotangents


def _is_default(parameter: inspect.Parameter, value: Any) -> bool:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return not value
    if value is parameter.default or value is np._NoValue:
        return True
    same_type = type(value) is type(parameter.default)
    return isinstance(value, (bool, int, float, str)) and same_type and value == parameter.default


# --- registering --------------------------------------------------------------------------------------------


@_later
def partials(
    fn: Function,
    *derivatives: Function | None,
    params: str | None = None,
    harmless: str = "",
    decides: str = "",
    domain: Interval | tuple[Domain, ...] = (-2.0, 2.0),
    samples: tuple[Sample, ...] | None = None,
) -> None:
    """Register an elementwise function by its partial derivatives ``(y, *inputs) -> derivative``, one for
    each input.

    None stands for an input whose derivative is zero; one that has no known derivative gets a body that
    calls ``rt.no_derivative``. ``harmless`` and ``decides`` name further parameters that may be passed. ``domain`` is
    an interval to draw samples from, or one per input, where a number stands for itself.
    """
    _add(_elementwise(fn, "partials", derivatives, params, domain, samples, harmless, decides))


@_later
def several(
    fn: Function,
    *derivatives: Function | None,
    params: str | None = None,
    domain: Interval | tuple[Domain, ...] = (-2.0, 2.0),
    samples: tuple[Sample, ...] | None = None,
) -> None:
    """Register an elementwise function with several results: as ``partials``, each partial a tuple."""
    _add(_elementwise(fn, "several", derivatives, params, domain, samples))


@_later
def straight_through(
    *fns: Function,
    derivatives: tuple[Function | None, ...] = (lambda y, x: 1.0,),
    params: str | None = None,
    domain: Interval | tuple[Interval, ...] = (-2.0, 2.0),
) -> None:
    """Register piecewise constant functions that are differentiated as the smooth function that they round.
    """
    for fn in fns:
        _add(_elementwise(fn, "straight_through", derivatives, params, domain, ()))


def _elementwise(
    fn: Function,
    kind: str,
    derivatives: tuple[Function | None, ...],
    params: str | None,
    domain: Interval | tuple[Domain, ...],
    samples: tuple[Sample, ...] | None,
    harmless: str = "",
    decides: str = "",
) -> Rule:
    signature = _signature(fn, params)
    if samples is None:
        domains = _domains(domain, len(derivatives))
        scalar_only = getattr(fn, "__module__", None) == "math"
        samples = elementwise_samples(domains, scalar_only)
    named = list(signature.parameters)[: len(derivatives)]
    supports = frozenset(named) | _never_matters(signature) | {"dtype", *harmless.split(), *decides.split()}
    if kind == "straight_through":  # the number of digits changes how much is rounded off, not the slope
        supports |= frozenset(signature.parameters) - {"out", "where"}
    made = Rule(fn, kind, signature, partials=derivatives, supports=supports, samples=samples)
    return _with_options(made, harmless, decides)


def _with_options(rule: Rule, harmless: str, decides: str) -> Rule:
    return replace(rule, harmless=HARMLESS | frozenset(harmless.split()), decides=frozenset(decides.split()))


def elementwise_rule(fn: Function, derivatives: tuple[Function | None, ...], params: inspect.Signature) -> Rule:
    """The rule of an elementwise function by its partial derivatives, not in the table yet."""
    supports = frozenset(params.parameters) - {"out", "where"}
    return Rule(fn, "partials", params, partials=derivatives, supports=supports, harmless=frozenset())


def _domains(domain: Any, count: int) -> tuple[Domain, ...]:
    """One domain for each input: an interval alone is that of all of them."""
    is_one = len(domain) == 2 and not any(isinstance(d, tuple) for d in domain)
    return (domain,) * count if is_one else domain


@_later
def linear(
    fn: Function,
    *,
    params: str | None = None,
    joint: bool = False,
    harmless: str = "",
    decides: str = "",
    samples: tuple[Sample, ...] | list[Sample] = (),
    **cotangents: Function,
) -> None:
    """Register a function that is linear in the arguments named, by the transpose for each of them.

    Forward mode is the function itself on the tangent: one argument at a time (``a @ b``; for ``*args`` one
    of them at a time), or with ``joint`` on the tangents of all (``concatenate``), zero for those that have
    none. ``harmless`` names parameters that change the form of the result at most, ``decides`` those that choose among
    functions, and that the rule need not read: they may be passed, and get no derivative.
    """
    _add(_by_name(fn, "linear", params, (harmless, decides), tuple(samples), cotangents, joint))


def vjp(
    fn: Function,
    wrt: str = "",
    *,
    params: str | None = None,
    harmless: str = "",
    decides: str = "",
    samples: tuple[Sample, ...] | list[Sample] = (),
    **cotangents: Function,
) -> Callable[[F], F]:
    """Register a function by the cotangents of the arguments named.

    Also a decorator, ``@vjp(fn, "a")``, for a body that is a ``def``; used again for each further argument.
    """
    if cotangents:
        _later(_add_by_name)(fn, "vjp", params, (harmless, decides), cotangents, samples=tuple(samples))

    @_later
    def add(body: Function) -> None:
        old = _rules.get(id(fn))
        name = wrt or next(iter(_signature(fn, params).parameters))
        if old is None:
            _add(_by_name(fn, "vjp", params, (harmless, decides), tuple(samples), {name: body}))
        else:
            supports = old.supports | (_names_in(body) & old.params.parameters.keys())
            changed: dict[str, Function] = {**old.cotangents, name: body}
            _rules[id(fn)] = replace(old, cotangents=changed, supports=supports)

    return _decorator(add)


def jvp(fn: Function, **tangents: Function) -> Callable[[F], F]:
    """Give a ``vjp`` rule a forward mode of its own, in place of the transpose of its cotangents: the tangent of the
    result for each argument, ``a=lambda a_dot, y: ...``.

    Without these a decorator for the tangent by all arguments together, its parameters by name.
    """
    if tangents:
        _later(_add_tangents)(fn, tangents)

    @_later
    def add(body: Function) -> None:
        _change(fn, tangent=body)

    return _decorator(add)


def _add_tangents(fn: Function, tangents: Mapping[str, Function]) -> None:
    _change(fn, tangents=dict(tangents))


def _change(fn: Function, **fields: Any) -> None:
    """Replace the rule of a function by one with other fields."""
    is_method = _is_method_of_ufunc(fn)
    old = _methods[id(fn.__self__), fn.__name__] if is_method else _rules[id(fn)]  # type: ignore[attr-defined]
    made = _rules[id(old.fn)] = replace(old, **fields)
    functions.changed()
    if is_method:
        _methods[id(fn.__self__), fn.__name__] = made  # type: ignore[attr-defined]


@_later
def zero(*fns: Function) -> None:
    """Register functions whose derivative is zero, or whose result is no number. They are called as they are.
    """
    anything = inspect.signature(lambda *args, **kwargs: None)
    for fn in fns:
        _add(Rule(fn, "zero", anything, supports=frozenset(anything.parameters)))


@_later
def refuse(fn: Function, reason: str) -> None:
    """Register a function that has no derivative; ``reason`` says why and what to write instead."""
    _add(Rule(fn, "refuse", inspect.signature(lambda *args, **kwargs: None), reason=reason))


def model(
    fn: Function, *, params: str | None = None, samples: tuple[Sample, ...] | list[Sample] = (),
    always: bool | None = None, given: tuple[Any, ...] = (), stores: bool = False,
) -> Callable[[F], F]:
    """Register a Python function that is differentiated in place of ``fn``: a decorator. ``always`` puts it there where
    nothing differentiated goes in too: because what it makes is an object of its own, as it is of a class where nothing
    else is said. What is ``given``, constants that
    tell which of several functions it stands for, it gets first. One that ``stores`` leaves its result, as ``fn`` does,
    in an argument that may be overwritten."""

    @_later
    def add(body: Function) -> None:
        signature = _signature(body, params)
        supports = frozenset(signature.parameters)
        made = Rule(fn, "model", signature, body=body, supports=supports, samples=tuple(samples))
        _add(replace(made, always=isinstance(fn, type) if always is None else always, given=given, stores=stores))

    return _decorator(add)


@_later
def alias(
    other: Function,
    *fns: Function,
    params: str | None = None,
    samples: tuple[Sample, ...] | list[Sample] | None = None,
) -> None:
    """Give functions the rule of another one. ``params`` where the signature differs: bodies read the same
    names.
    """
    for fn in fns:
        rule = _rules[id(other)]
        signature = _signature(fn, params) if params else rule.params
        if params:
            named = list(signature.parameters)[: len(rule.partials)]
            rule = replace(rule, supports=rule.supports | frozenset(named) | _never_matters(signature))
        known = rule.samples if samples is None else tuple(samples)
        if getattr(fn, "__objclass__", None) is np.ndarray:
            known = tuple(sample for sample in known if _is_array(sample.args[0]))
        _add(replace(rule, fn=fn, params=signature, samples=known))


def _is_array(argument: Any) -> bool:
    return isinstance(argument, Draw) and argument.shape is not None


def is_refusal(body: Function) -> bool:
    """Whether a body does nothing but refuse: a derivative by this argument is not known."""
    names = body.__code__.co_names
    return "no_derivative" in names and all(n in ("rt", "no_derivative") or n.isupper() for n in names)


def attribute(name: str, fn: Function) -> None:
    """Say which function an attribute of an ndarray means."""
    _attributes[name] = fn


@_later
def kind_by_value(*fns: Function) -> None:
    """Say that the dtype or the shape of results of functions that have rules depends on values: no trial on other
    values tells it."""
    for fn in fns:
        _rules[id(fn)] = replace(_rules[id(fn)], by_value=True)


@_later
def flat_for_reals(*fns: Function) -> None:
    """Say of functions that have rules that they are piecewise constant where all their arguments are real: their rules
    are for complex numbers."""
    for fn in fns:
        _rules[id(fn)] = replace(_rules[id(fn)], flat_for_reals=True)


@_later
def takes_none(*fns: Function) -> None:
    """Say of functions that have rules and several results that None may stand for a part of ``y_bar``, where nothing
    reads that part of the result: what it would cost is saved."""
    for fn in fns:
        _rules[id(fn)] = replace(_rules[id(fn)], takes_none=True)


def requires(*fns: Function) -> Callable[[F], F]:
    """Say where the rules of functions hold, in every mode: a decorator for a body that asks for ``y`` and parameters
    by name, and calls ``rt.no_derivative`` elsewhere."""

    @_later
    def add(body: Function) -> None:
        for fn in fns:
            _change(fn, requires=body)

    return _decorator(add)


def _decorator(add: Callable[..., None]) -> Callable[[F], F]:
    """A decorator that registers a body and leaves it as it is."""

    def decorate(body: F) -> F:
        add(body)
        return body

    return decorate


# --- checks -------------------------------------------------------------------------------------------------


def _add(rule: Rule) -> None:
    """Put a rule into the table. Raises ValueError where the function has one: no rule is lost silently."""
    if id(rule.fn) in _rules:
        raise ValueError(f"{rule.name} already has a rule")
    _rules[id(rule.fn)] = rule
    functions.changed()
    if _is_method_of_ufunc(rule.fn):
        _methods[id(rule.fn.__self__), rule.fn.__name__] = rule  # type: ignore[attr-defined]


def _add_by_name(
    fn: Function, kind: str, params: str | None, options: tuple[str, str], cotangents: Mapping[str, Function],
    samples: tuple[Sample, ...],
) -> None:
    _add(_by_name(fn, kind, params, options, samples, cotangents))


def _by_name(
    fn: Function,
    kind: str,
    params: str | None,
    options: tuple[str, str],
    samples: tuple[Sample, ...],
    cotangents: Mapping[str, Function],
    joint: bool = False,
) -> Rule:
    signature = _signature(fn, params)
    known = frozenset(signature.parameters)
    read = frozenset().union(*(_names_in(body) for body in cotangents.values()))
    strange = (read - RESERVED | frozenset(cotangents)) - known
    if strange:
        raise ValueError(
            f"the rule of {fn!r} names {sorted(strange)}; its parameters are {list(signature.parameters)}",
        )
    declared = frozenset(cotangents) | frozenset(" ".join(options).split())
    supports = (read & known) | declared | _never_matters(signature)
    made = Rule(fn, kind, signature, cotangents=dict(cotangents), joint=joint, supports=supports, samples=samples)
    return _with_options(made, *options)


def _never_matters(signature: inspect.Signature) -> frozenset[str]:
    """Parameters that no rule has to read: those without a default (the author saw them), and memory layout.
    """
    parameters = signature.parameters.values()
    required = {p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    return frozenset(required) | (HARMLESS & signature.parameters.keys())


def _names_in(body: Function) -> frozenset[str]:
    code = body.__code__  # far faster than inspect.signature: a first compile fills the whole table
    return frozenset(code.co_varnames[: code.co_argcount])


def _signature(fn: Function, params: str | None) -> inspect.Signature:
    """The signature that calls of ``fn`` are bound to: from text, from the number of inputs, or from Python.
    """
    if params is None and isinstance(fn, np.ufunc):
        inputs = "x" if fn.nin == 1 else ", ".join(f"x{i + 1}" for i in range(fn.nin))
        params = f"{inputs}, /, {OPTIONS_OF_UFUNCS}"
    return inspect.signature(fn) if params is None else _signature_of_text(params)


@functools.cache
def _signature_of_text(params: str) -> inspect.Signature:
    made: Function = eval(f"lambda {params}: None", {"np": np})
    return inspect.signature(made)
