"""The table itself: registering, binding, refusing."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import s2s
from s2s.errors import NoDerivativeError
from s2s.rules import table
from s2s.rules.table import ATTRIBUTES, RULES, bind, find, unsupported
from tests.helpers import forget_derivatives

table.extend()


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[None]:
    """A copy of the table, so that a test leaves nothing behind: no rule, and nothing that was compiled by one."""
    forget_derivatives(request.module.__name__)
    monkeypatch.setattr(table, "_rules", dict(table._rules))
    monkeypatch.setattr(table, "FOREIGN", list(table.FOREIGN))  # on which files on disk depend
    yield
    forget_derivatives(request.module.__name__)


class Unhashable:
    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return True


def test_rules_are_found_by_identity_of_any_object() -> None:
    for fn in (np.sin, np.sum, np.ndarray.sum, operator.add, max, abs):
        rule = find(fn)
        assert rule is not None and rule.fn is fn
    assert find(Unhashable()) is None
    assert find(3) is None


def test_methods_of_ufuncs_are_found_though_they_are_new_objects() -> None:
    assert np.add.reduce is not np.add.reduce
    for method in (np.add.reduce, np.multiply.accumulate, np.subtract.outer):
        rule = find(method)
        assert rule is not None and rule.fn == method
    assert find(np.arctan2.reduceat) is None
    assert find([].append) is None


def test_rules_have_the_names_that_users_write() -> None:
    for fn, name in [
        (np.sin, "numpy.sin"), (scipy.special.erf, "scipy.special.erf"), (np.add.reduce, "numpy.add.reduce"),
        (scipy.linalg.expm, "scipy.linalg.expm"), (np.ndarray.sum, "ndarray.sum"), (operator.add, "_operator.add"),
    ]:
        rule = find(fn)
        assert rule is not None and rule.name == name


def test_the_table_is_read_only() -> None:
    with pytest.raises(TypeError):
        RULES[0] = find(np.sin)  # type: ignore[index]


@pytest.mark.usefixtures("scratch")
def test_no_rule_is_lost_silently() -> None:
    with pytest.raises(ValueError, match=r"numpy.sin already has a rule"):
        table.partials(np.sin, lambda y, x: 0.0)


@pytest.mark.usefixtures("scratch")
def test_a_body_that_names_no_parameter_is_reported_at_once() -> None:
    def double(x: Any) -> Any:
        return 2 * x

    with pytest.raises(ValueError, match="names \\['z'\\]"):
        table.linear(double, x=lambda y_bar, z: y_bar)
    with pytest.raises(ValueError, match="names \\['w'\\]"):
        table.linear(double, w=lambda y_bar: y_bar)


@pytest.mark.usefixtures("scratch")
def test_vjp_as_a_decorator() -> None:
    def product(a: Any, b: Any) -> Any:
        return a * b

    @table.vjp(product)
    def product_a(y_bar: Any, b: Any) -> Any:
        return y_bar * b

    @table.vjp(product, "b")
    def product_b(y_bar: Any, a: Any) -> Any:
        return y_bar * a

    @table.jvp(product)
    def product_dot(a: Any, a_dot: Any, b: Any, b_dot: Any) -> Any:
        return a_dot * b + a * b_dot

    rule = find(product)
    assert rule is not None
    assert rule.cotangents == {"a": product_a, "b": product_b}
    assert rule.tangent is product_dot


def scale(a: Any, factor: Any, like: Any = None, unit: Any = 1.0) -> Any:
    """A function whose rules below say nothing of some parameters."""
    return a * factor * unit


def by_factor(x: Any) -> Any:
    return scale(3.0, x)


def by_unit(x: Any) -> Any:
    return scale(x, 2.0, unit=x)


def by_like(x: Any) -> Any:
    return scale(x, 2.0, like=x)


def refuses(f: Any, name: str) -> None:
    """Both modes name the parameter."""
    for derivative in (lambda: s2s.grad(f)(2.0), lambda: s2s.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(NoDerivativeError, match=f"scale` does not support the argument `{name}`"):
            derivative()


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("kind", ["linear", "vjp", "joint", "partials"])
def test_a_parameter_of_which_the_rule_says_nothing_is_refused(kind: str) -> None:
    """It would be a silent zero; one that only shapes the result has none."""
    if kind == "linear":
        table.linear(scale, a=lambda y_bar, factor, unit: y_bar * factor * unit)
    elif kind == "partials":
        table.partials(scale, lambda y, a: 2.0, harmless="unit")
    else:
        table.vjp(scale, a=lambda y_bar, factor, unit: y_bar * factor * unit)
    if kind == "vjp":
        table.jvp(scale, a=lambda a_dot, factor, unit: a_dot * factor * unit)
    if kind == "joint":
        table.jvp(scale)(joint_tangent)
    refuses(by_factor, "factor")
    if kind == "partials":  # said to shape the result only
        assert s2s.grad(by_unit)(2.0) == s2s.jvp(by_unit, (2.0,), (1.0,))[1] == 2.0
    else:
        refuses(by_unit, "unit")
    assert s2s.grad(by_like)(2.0) == s2s.jvp(by_like, (2.0,), (1.0,))[1] == 2.0


def joint_tangent(a_dot: Any, factor: Any, unit: Any) -> Any:
    return a_dot * factor * unit


def test_bind_fills_defaults_and_takes_any_objects() -> None:
    rule = find(np.sum)
    assert rule is not None
    marker = Unhashable()
    bound = bind(rule, (marker,), {"axis": 1})
    assert bound["a"] is marker and bound["axis"] == 1 and bound["keepdims"] is False
    with pytest.raises(TypeError):
        bind(rule, (), {})
    with pytest.raises(TypeError):
        bind(rule, (1,), {"a": 2})


def test_variadic_arguments_come_as_one_tuple() -> None:
    rule = find(np.einsum)
    assert rule is not None
    assert bind(rule, ("ij,j", 1, 2), {})["operands"] == (1, 2)


@pytest.mark.parametrize(
    "fn, args, kwargs, names",
    [
        (np.sum, (1.0,), {"axis": 0, "keepdims": True}, []),
        (np.sum, (1.0,), {"out": np.zeros(3)}, ["out"]),
        (np.sum, (1.0,), {"initial": 2.0}, []),
        (np.sum, (1.0,), {"keepdims": np._NoValue}, []),
        (np.sin, (1.0,), {"where": np.array([True])}, ["where"]),
        (np.sin, (1.0,), {"where": True, "dtype": np.float32}, []),
        (np.pad, (1.0, 2), {"mode": "edge"}, []),
        (np.pad, (1.0, 2, "constant"), {}, []),
        (np.concatenate, ([1.0],), {"dtype": np.float32, "out": np.zeros(1)}, ["out"]),
        (np.var, (1.0,), {"mean": np.zeros(2)}, []),
        (np.average, (1.0,), {"returned": True}, []),
        (np.reshape, (1.0, (2, 3)), {"order": "F"}, []),
        (np.interp, (1.0, 2.0, 3.0), {"period": 1.0}, []),
    ],
)
def test_unsupported_parameters_are_named(fn: Any, args: Any, kwargs: Any, names: list[str]) -> None:
    rule = find(fn)
    assert rule is not None
    assert unsupported(rule, bind(rule, args, kwargs)) == names


def test_attributes_mean_functions_with_rules() -> None:
    assert ATTRIBUTES["T"] is np.transpose
    assert all(find(fn) is not None for fn in ATTRIBUTES.values())
    assert {"shape", "ndim", "size", "dtype"} <= table.PASSIVE_ATTRIBUTES


CHOICES = frozenset(
    """UPLO args assume_a axes axis axis1 axis2 axisa axisb axisc branch_cut casting check_finite clean compute_uv copy
    correction ddof deg density descending destination device diff_n driver dtype edge_order eigvals_only endpoint
    equal_nan full_matrices hermitian include_initial indexing indices indices_or_sections k keepdims kind kth
    l_and_u lapack_driver like lower lwork m method minlength mode n ndmin norm num obj offset optimize order
    orthogonalize overwrite_input p_indices pad_width permute_l pivoting reflect_type repeats reps requirements
    retstep return_counts return_index return_inverse return_rank returned s self shape shift sorted source sparse
    stable
    stat_length subok tol trans transposed trim type unit_diagonal upper where window_shape workers
    writeable""".split()  # noqa: SIM905
)
"""Parameters that are integers, names or flags, whatever the function."""

FLAT = {
    "a": {np.choose, np.ndarray.choose, np.full_like}, "b": {operator.getitem}, "x": {np.bincount},
    "condition": {np.where, np.compress, np.ndarray.compress, np.extract}, "condlist": {np.select},
    "discont": {np.unwrap}, "weights": {np.histogram_bin_edges},
}
"""Parameters by which the derivative is zero, and the functions that have them. A threshold for the rank is another."""


OBJECTS = frozenset(
    """matrix A bc_type ndim bp overwrite_data origin permc_spec use_umfpack subset_by_index subset_by_value overwrite_a
    overwrite_b left right homogeneous_eigvals return_sign nu extrapolate ext dx dy grid
    solver options output sort""".split()  # noqa: SIM905
)
"""Parameters of SciPy that are no arrays: sparse matrices, names, ranks, places, orders, limits, flags."""


def test_no_parameter_that_can_carry_a_derivative_is_passed_over() -> None:
    """A parameter without a body is refused where it is differentiated: such are not to be forgotten."""
    for rule in RULES.values():
        if rule.kind in ("linear", "vjp") and not rule.name.startswith("s2s."):  # these read shapes and dtypes
            thresholds = {"rcond", "rtol", "atol", "cond"}
            rest = set(rule.supports) - set(rule.cotangents) - CHOICES - thresholds - OBJECTS
            assert all(rule.fn in FLAT.get(name, ()) for name in rest), (rule.name, rest)


def test_bodies_close_over_nothing() -> None:
    for rule in RULES.values():
        bodies = [*rule.partials, *rule.cotangents.values(), rule.tangent, rule.body]
        for body in bodies:
            assert body is None or body.__closure__ is None, rule.name  # type: ignore[attr-defined]


def test_a_partial_takes_one_input_for_each_partial() -> None:
    for rule in RULES.values():
        for derivative in rule.partials:
            if derivative is not None:
                assert len(inspect.signature(derivative).parameters) == 1 + len(rule.partials), rule.name


def test_a_tangent_names_parameters_and_their_tangents() -> None:
    for rule in RULES.values():
        if rule.tangent is not None:
            dots = {f"{name}_dot" for name in rule.cotangents}
            named = set(inspect.signature(rule.tangent).parameters)
            assert named <= {"y", *rule.params.parameters, *dots}, rule.name
            assert dots <= named, rule.name


REGISTRATIONS = {
    "partials": "table.partials(fn, lambda y, x: x)",
    "linear": "table.linear(fn, x=lambda y_bar, x: y_bar)",
    "vjp": "table.vjp(fn, x=lambda y_bar, x: y_bar)",
    "zero": "table.zero(fn)",
    "refuse": "table.refuse(fn, 'it is noise')",
    "model": "table.model(fn)(lambda x: x)",
}


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("name", REGISTRATIONS)
@pytest.mark.parametrize("module, is_foreign", [
    ("__main__", True), ("s2snext.rules", True), ("rules.s2s", True), ("s2s.rules.scipy.other", False),
    ("s2s.models.other", False),
])
def test_the_rules_of_others_are_told_from_those_of_s2s(
    module: str, is_foreign: bool, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the module that registers, whoever has called it."""
    monkeypatch.setattr(table, "FOREIGN", [])

    def fn(x: Any) -> Any:
        return x

    exec(REGISTRATIONS[name], {"__name__": module, "table": table, "fn": fn})
    assert table.find(fn) is not None
    assert bool(table.FOREIGN) is is_foreign
    assert table.is_from_outside(fn) is (is_foreign and name != "model")  # it is listed by the function in its place
    assert not table.is_from_outside(np.sin)


@pytest.mark.usefixtures("scratch")
def test_a_function_with_a_rule_and_source_is_differentiated_by_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "FOREIGN", [])

    def floor(x: Any, step: Any = 1.0) -> Any:
        return step * np.floor(x / step)

    table.vjp(floor, x=lambda y_bar: 7.0 * y_bar, harmless="step")
    table.jvp(floor, x=lambda x_dot: 7.0 * x_dot)
    assert s2s.grad(floor)(2.5) == 7.0
    assert s2s.jvp(floor, (2.5,), (2.0,)) == (2.0, 14.0)
    assert s2s.grad(functools.partial(floor, step=2))(2.5) == 7.0
