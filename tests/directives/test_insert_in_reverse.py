"""Functions in the reverse direction: values and tangents pass as they are, cotangents through the function."""

import pickle
import warnings

import numpy as np
import pytest

import s2s

X = np.array([0.3, -0.7])


def differences(f, x, h=1e-6):
    return np.stack([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=-1)


def clip(g):
    return np.clip(g, -1.0, 1.0)


def shorten(g):
    norm = np.sqrt(np.sum(g * g))
    if norm > 0.5:
        return g * (0.5 / norm)
    return g


def loop(x, inserted):
    for _ in range(3):
        x = inserted(x) * 2.0
    return np.sum(x * x)


def by_hand(x, fn):
    g = 2.0 * 8.0 * x
    for _ in range(3):
        g = fn(2.0 * g)
    return g


def nested(x):
    for _ in range(3):
        x = s2s.insert_in_reverse(lambda g: np.tanh(g))(x * x)
    return np.sum(x)


def captured(x):
    scale = np.sum(x * x)
    y = s2s.insert_in_reverse(lambda g: g * scale)(np.sin(x))
    return np.sum(y * y)


@pytest.mark.parametrize("fn", [clip, shorten, np.tanh], ids=["clip", "shorten", "tanh"])
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_cotangents_go_through_the_function_in_each_iteration(fn, backend):
    inserted = s2s.insert_in_reverse(fn)

    @s2s.differentiable(backend=backend)
    def f(x):
        return loop(x, inserted)

    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.NumbaFallbackWarning)
        derivative = s2s.value_and_grad(f)
        value, gradient = derivative(X)
    assert value == loop(X, lambda x: x)
    np.testing.assert_allclose(gradient, by_hand(X, fn), rtol=1e-14)
    assert derivative.backend.startswith(backend)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_the_code_of_a_derivative_has_the_identity(backend):
    f = s2s.differentiable(lambda x: loop(x, s2s.insert_in_reverse(np.tanh)), backend=backend)
    assert "inserted." not in s2s.source(f, X) + s2s.source(f, X, mode="jvp", argnums=(0,))
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.NumbaFallbackWarning)
        assert s2s.jvp(f, (X,), (X,))[1] == pytest.approx(128 * np.sum(X * X))
    tangent = s2s.grad(lambda x: s2s.jvp(f, (x,), (X,))[1])(X)
    np.testing.assert_allclose(tangent, 128 * X)


def test_tangents_pass_as_they_are():
    inserted = s2s.insert_in_reverse(clip)
    assert s2s.jvp(lambda x: loop(x, inserted), (X,), (X,))[1] == pytest.approx(2 * loop(X, lambda x: x))
    np.testing.assert_allclose(s2s.jacfwd(lambda x: inserted(x * x))(X), np.diag(2 * X))
    reverse = s2s.jacrev(lambda x: s2s.insert_in_reverse(np.tanh)(x * x))(X)
    np.testing.assert_allclose(reverse, np.diag(2 * X) * np.tanh(1))


@pytest.mark.parametrize("f", [
    nested, captured, lambda x: loop(x, s2s.insert_in_reverse(shorten)),
], ids=["nested", "captured", "shorten"])
def test_second_derivatives_are_those_of_what_the_first_ones_compute(f):
    gradient = s2s.grad(f)
    expected = differences(gradient, X)
    assert np.max(np.abs(expected)) > 1e-3
    np.testing.assert_allclose(s2s.hessian(f)(X), expected, atol=1e-8)
    np.testing.assert_allclose(s2s.jacrev(gradient)(X), expected, atol=1e-8)


def test_what_a_nested_function_captures_is_the_value_of_the_primal():
    np.testing.assert_allclose(s2s.grad(captured)(X), 2 * np.sum(X * X) * np.sin(X) * np.cos(X))


@pytest.mark.parametrize("make", [
    lambda seen: seen.append, lambda seen: lambda g: seen.append(g), lambda seen: lambda g: (seen.append(g), g)[1],
], ids=["append", "nothing", "both"])
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_cotangents_are_recorded_from_the_last_iteration_to_the_first(make, backend):
    seen = []
    inserted = s2s.insert_in_reverse(make(seen))
    f = s2s.differentiable(lambda x: loop(x, inserted), backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s2s.NumbaFallbackWarning)
        np.testing.assert_array_equal(s2s.grad(f)(X), 128 * X)
    np.testing.assert_array_equal(seen, [32 * X, 64 * X, 128 * X])


def test_what_is_recorded_and_given_may_be_changed():
    seen = []

    def halve(g):
        seen.append(g)
        g *= 0.5
        return g

    def f(x):
        y = x * x
        z = s2s.insert_in_reverse(halve)(y)
        y[0] = 5.0
        z[1] = 2.0 * z[1]
        return np.sum(y) + np.sum(z * z)

    expected = [0.5 * 2 * X[0] ** 2 * 2 * X[0], (1 + 0.5 * 8 * X[1] ** 2) * 2 * X[1]]
    np.testing.assert_allclose(s2s.grad(f)(X), expected)
    np.testing.assert_allclose(seen, [[X[0] ** 2, 4 * X[1] ** 2]])


def test_print_shows_cotangents(capsys):
    s2s.grad(lambda x: 3.0 * s2s.insert_in_reverse(print)(x))(2.0)
    assert capsys.readouterr().out == "3.0\n"


def test_second_derivatives_of_what_has_no_source_are_refused():
    seen = []
    gradient = s2s.grad(lambda x: loop(x, s2s.insert_in_reverse(seen.append)))
    with pytest.raises(s2s.errors.NoDerivativeError, match=r"`list.append` has neither"):
        s2s.jacrev(gradient)(X)


def test_gradients_of_gradients_in_the_program():
    def outer(x):
        return np.sum(s2s.grad(nested)(x) ** 2)

    expected = differences(outer, X)
    np.testing.assert_allclose(s2s.grad(outer)(X), expected, atol=1e-8)
    np.testing.assert_allclose(s2s.jacfwd(outer)(X), expected, atol=1e-8)


def test_structures_pass_part_by_part():
    def f(x):
        a, b = s2s.insert_in_reverse(lambda g: (2.0 * g[0], np.tanh(g[1])))((x, x * x))
        return np.sum(a) + np.sum(b * b)

    np.testing.assert_allclose(s2s.grad(f)(X), 2.0 + np.tanh(2 * X**2) * 2 * X)
    np.testing.assert_allclose(s2s.jacrev(s2s.grad(f))(X), differences(s2s.grad(f), X), atol=1e-8)


def test_another_shape_is_refused():
    with pytest.raises(s2s.errors.ArgumentError, match="s2s.insert_in_reverse returns a cotangent of rank 0"):
        s2s.grad(lambda x: np.sum(s2s.insert_in_reverse(np.sum)(x)))(X)
    lasting = []

    def first(g):
        lasting.append(g)
        return g[:1]

    with pytest.raises(s2s.errors.ArgumentError, match=r"shape \(1,\); shape \(2,\) is needed"):
        s2s.grad(lambda x: np.sum(s2s.insert_in_reverse(first)(x)))(X)
    with pytest.raises(s2s.errors.ArgumentError, match="`3`"):
        s2s.insert_in_reverse(3)


def test_it_is_the_identity_outside_of_derivatives_and_pickles():
    inserted = pickle.loads(pickle.dumps(s2s.insert_in_reverse(clip)))
    assert repr(inserted) == "<s2s.insert_in_reverse clip>"
    y = inserted(X)
    assert y is not X
    np.testing.assert_array_equal(y, X)


def test_nested_functions_keep_their_defaults():
    def f(x):
        powers = []
        for k in range(3):
            powers.append(lambda v, k=k: v ** (k + 1))
        return s2s.insert_in_reverse(np.tanh)(x) + powers[int(x)](x)

    assert s2s.grad(f)(0.7) == pytest.approx(np.tanh(1.0) + 1.0)


def doubled(x, steps):
    for _ in range(steps):
        x, y = s2s.insert_in_reverse(lambda g: (g[0], 2.0 * g[1]))((np.tanh(3.0 * x), x))
        x = x * y
    return np.sum(x * x)


def test_a_structure_that_is_known_to_fit_is_not_kept_for_its_shape():
    def by_rule(x):
        """One iteration by hand: ``x -> tanh(3 x) x``, where the cotangent of the second factor counts twice."""
        t = np.tanh(3.0 * x)
        return t * x, lambda g: g * x * 3.0 * (1.0 - t * t) + 2.0 * g * t

    pulls, x = [], X
    for _ in range(3):
        x, pull = by_rule(x)
        pulls.append(pull)
    expected = 2.0 * x
    for pull in reversed(pulls):
        expected = pull(expected)
    np.testing.assert_allclose(s2s.grad(doubled)(X, 3), expected, rtol=1e-12)
    assert "fit_bar" not in s2s.source(doubled, X, 3)


MASK = np.array([1.0, 0.0])
masked = s2s.insert_in_reverse(lambda g: g * MASK)


def lengthened(x, steps):
    for k in range(1, steps):
        x = masked(3.0 * x)
        x = np.concatenate((x, x[:k]))[:2]
    return np.sum(x * x)


def test_of_what_may_not_fit_the_shape_is_kept_and_a_lambda_is_read_where_the_module_has_it():
    text = s2s.source(lengthened, X, 3)
    assert "masked.args[0](" in text and "function0" not in text
    kept = [line.strip() for line in text.splitlines() if ".append(" in line]
    assert kept and all("rt.outline(" in line for line in kept)
    np.testing.assert_allclose(s2s.grad(lengthened)(X, 3), [162.0 * X[0], 0.0], rtol=1e-12)
