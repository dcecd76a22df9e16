"""Series, DataFrames and DataArrays that are differentiated, or results, and functions of NumPy's that read them."""

import numpy as np
import pytest

import s2s

pd = pytest.importorskip("pandas")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")]

S = pd.Series([0.5, 2.0, 1.5], index=list("abc"), name="v")
TABLE = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.5, 0.1, 0.2]}, index=[3, 4, 5])


@pytest.fixture(autouse=True)
def default(monkeypatch):
    monkeypatch.delenv("S2S_RECORDED", raising=False)


def differences(f, values, build, h=1e-6):
    found = np.zeros(values.shape)
    for place in np.ndindex(values.shape):
        step = np.zeros(values.shape)
        step[place] = h
        found[place] = (f(build(values + step)) - f(build(values - step))) / (2.0 * h)
    return found


def of_series(s):
    return (s * s).sum() + s["a"] * s.iloc[2] + np.exp(s).mean() + s.rolling(2).mean().iloc[-1]


def of_frame(d):
    return (d["x"] * d.y).sum() + d.loc[4, "x"] ** 2 + d.mean().prod() + (d.to_numpy() @ d.to_numpy().T).sum()


def test_a_gradient_by_a_series_has_its_index():
    expected = differences(of_series, S.to_numpy(), lambda a: pd.Series(a, index=S.index))
    gradient = s2s.grad(of_series)(S)
    pd.testing.assert_series_equal(gradient, pd.Series(expected, index=S.index, name="v"), rtol=1e-6)
    along = pd.Series([1.0, -2.0, 0.5], index=S.index, name="v")
    assert s2s.jvp(of_series, (S,), (along,))[1] == pytest.approx(expected @ along.to_numpy(), rel=1e-6)


def test_a_gradient_by_a_frame_has_its_labels():
    build = lambda a: pd.DataFrame(a, index=TABLE.index, columns=TABLE.columns)
    expected = build(differences(of_frame, TABLE.to_numpy(), build))
    pd.testing.assert_frame_equal(s2s.grad(of_frame)(TABLE), expected, rtol=1e-6)
    along = build(np.arange(6.0).reshape(3, 2))
    assert s2s.jvp(of_frame, (TABLE,), (along,))[1] == pytest.approx((expected * along).to_numpy().sum(), rel=1e-6)


def test_columns_without_floats_stay():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "k": ["a", "b", "a"]})
    gradient = s2s.grad(lambda d: (d.groupby("k")["x"].sum() ** 2).sum())(table)
    np.testing.assert_allclose(gradient["x"], [8.0, 4.0, 8.0])
    assert list(gradient["k"]) == ["a", "b", "a"]


def test_a_result_with_labels_has_cotangents_with_labels():
    out, pullback = s2s.vjp(lambda s: s * s + 1.0, S)
    (bar,) = pullback(pd.Series([1.0, 2.0, 3.0], index=S.index, name="v"))
    np.testing.assert_allclose(bar, [1.0, 8.0, 9.0])
    assert list(out.index) == list(bar.index) == ["a", "b", "c"]
    tangent = s2s.jvp(lambda s: s * s + 1.0, (S,), (0.0 * S + 1.0,))[1]
    np.testing.assert_allclose(tangent, 2.0 * S)


@pytest.mark.parametrize("call", [
    lambda other: s2s.jvp(of_series, (S,), (other,)), lambda other: s2s.vjp(lambda s: s * s, S)[1](other)])
def test_other_labels_are_refused(call):
    with pytest.raises(s2s.errors.ArgumentError):
        call(pd.Series([1.0, 1.0, 1.0], index=list("bca")))


def test_what_the_function_changes_stays_the_callers():
    given = S.copy()

    def f(s):
        s["a"] = s["b"] * 2.0
        return (s * s).sum()

    np.testing.assert_allclose(s2s.grad(f)(given), [0.0, 20.0, 3.0])
    pd.testing.assert_series_equal(given, S)


def test_a_data_array():
    xr = pytest.importorskip("xarray")
    d = xr.DataArray(np.array([[1.0, 2.0], [3.0, 4.0]]), dims=("a", "b"), coords={"a": [10, 20]})

    def f(d):
        return float((d * d).sum()) + float(d.sel(a=10).prod()) + float(d.mean("a").values[0])

    gradient = s2s.grad(f)(d)
    np.testing.assert_allclose(gradient, differences(f, d.values, lambda a: d.copy(data=a)), rtol=1e-6)
    assert gradient.dims == d.dims and gradient.coords.equals(d.coords)


def squares(s):
    return s * s + s["a"] * s["b"]


@pytest.mark.parametrize("derivative", [s2s.jacrev, s2s.jacfwd])
def test_a_jacobian_by_a_series_is_an_array(derivative):
    a, b, c = S
    np.testing.assert_allclose(
        derivative(squares)(S), [[2 * a + b, a, 0.0], [b, 2 * b + a, 0.0], [b, a, 2 * c]])


@pytest.mark.parametrize("derivative", [s2s.jacrev, s2s.jacfwd])
def test_a_jacobian_by_a_frame_has_an_array_for_each_column(derivative):
    found = derivative(lambda d: d["x"] * d["y"] ** 2)(TABLE)
    np.testing.assert_allclose(found["x"], np.diag(TABLE["y"] ** 2))
    np.testing.assert_allclose(found["y"], np.diag(2.0 * TABLE["x"] * TABLE["y"]))


def test_second_derivatives_by_a_series():
    build = lambda a: pd.Series(a, index=S.index)
    slopes = [lambda s, k=k: s2s.grad(of_series)(s).iloc[k] for k in range(3)]
    expected = np.stack([differences(slope, S.to_numpy(), build) for slope in slopes])
    np.testing.assert_allclose(s2s.hessian(of_series)(S), expected, rtol=1e-6, atol=1e-7)
    tangent = s2s.jvp(s2s.grad(of_series), (S,), (S,))[1]
    np.testing.assert_allclose(tangent, expected @ S.to_numpy(), rtol=1e-6)
    assert list(tangent.index) == ["a", "b", "c"]


def made_within(call):
    """A function that makes a frame, where it is differentiated, and what its gradient is."""
    build = lambda a: pd.DataFrame(a.reshape(2, 2), index=["p", "q"], columns=["x", "y"])
    loss, x = lambda a: call(build(a)), np.array([2.0, 0.3, 0.4, 1.5])
    return loss, x, differences(loss, x, lambda a: a)


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("call", [
    lambda d: np.linalg.cholesky(d.dot(d.T)).sum(), lambda d: np.linalg.inv(d).sum(), lambda d: np.nanmax(d),
    lambda d: np.dot(d, d).sum(), lambda d: np.where(d > 1.0, d**2, 2.0 * d).sum(), lambda d: np.linalg.norm(d["x"]),
    lambda d: np.concatenate([d["x"], d["y"] ** 2])[2], lambda d: (np.array(d) ** 2).sum(),
], ids=["cholesky", "inv", "nanmax", "dot", "where", "norm", "concatenate", "array"])
def test_functions_of_numpys_read_objects_as_arrays(call, monkeypatch):
    # the compiler takes seconds to refuse a frame that is made, and the same for each call: it is asked below
    monkeypatch.setenv("S2S_RECORDED", "always")
    loss, x, expected = made_within(call)
    np.testing.assert_allclose(s2s.grad(loss)(x), expected, rtol=1e-6, atol=1e-8)
    along = np.array([1.0, -2.0, 0.5, 0.3])
    np.testing.assert_allclose(s2s.jvp(loss, (x,), (along,))[1], expected @ along, rtol=1e-6)


def test_frames_that_are_made_are_recorded_without_being_told():
    loss, x, expected = made_within(lambda d: np.linalg.norm(d["x"]) + np.where(d > 1.0, d**2, 2.0 * d).sum())
    np.testing.assert_allclose(s2s.grad(loss)(x), expected, rtol=1e-6, atol=1e-8)
