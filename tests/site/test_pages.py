"""The programs of the tutorial and of the guides run, print what the pages show, and find what is known.

``pytest tests/site/test_pages.py --rewrite`` writes what they print into the pages.
"""

import sys
import warnings

import numpy as np
import pytest

import s2s
from tests.helpers import ROOT
from tests.site.running import blocks, run, with_ellipses

DOCS = ROOT / "docs"
PAGES = ["installation", "tutorial", *(f"guides/{page.stem}" for page in sorted((DOCS / "guides").glob("*.md")))]
LONG = ("guides/profile_and_debug", "guides/network", "guides/fast_loops")
"""Pages whose programs take seconds."""

CHECKS = {}
"""What is known of the results of a page, by its name: functions of the names of its program."""


def known(page):
    def add(check):
        CHECKS[page] = check
        return check

    return add


@pytest.mark.grid(0.25)
@pytest.mark.parametrize("page", [
    pytest.param(page, marks=pytest.mark.slow if page in LONG else ()) for page in PAGES])
def test_a_page_prints_what_it_shows(page, rewrite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("S2S_BACKEND", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = DOCS / f"{page}.md"
    text = file.read_text(encoding="utf-8")
    before = set(sys.modules)
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.DerivativeWarning)
        try:
            found, names = run(text, file.stem, tmp_path)
        except ModuleNotFoundError as missing:
            pytest.skip(f"{missing.name} is not installed")
    for name in set(sys.modules) - before:  # of the files of the page
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    if rewrite:
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")
    if page in CHECKS:
        CHECKS[page](names)


def test_checks_are_of_pages_that_there_are():
    assert set(CHECKS) <= set(PAGES)


def test_what_a_page_shows_is_compared(tmp_path):
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    assert run(page, "a", tmp_path)[0] == page.replace("2", "1")
    with pytest.raises(AssertionError, match="nothing shows"):
        run("```python\nprint(1)\n```\n", "b", tmp_path)
    page = "```python\nprint('x = 1')\n```\n\n<!-- prints -->\n```python\ny\n```\n"
    assert run(page, "c", tmp_path)[0] == page.replace("y\n", "x = 1\n")
    assert [b.is_output for b in blocks(page)] == [False, True]
    page = "```python\n# m.py\nx = 5\n```\n\n```console\n$ python -c 'import m; print(m.x)'\n6\n```\n"
    assert run(page, "d", tmp_path)[0] == page.replace("6", "5")


def test_an_ellipsis_stands_for_lines():
    assert with_ellipses("a\n...\nc\n", "a\nb\nb\nc\n") == "a\n...\nc\n"
    assert with_ellipses("a\n...\nd\n", "a\nb\nc\n") == "a\nb\nc\n"


# --- what is known --------------------------------------------------------------------------------------------------


@known("tutorial")
def is_the_fit_of_the_closed_form(names):
    """The model has a solution in closed form, which SciPy fits without derivatives of s2s."""
    from scipy.optimize import curve_fit

    def closed(t, ka, ke, volume):
        return 320.0 * ka / (volume * (ka - ke)) * (np.exp(-ke * t) - np.exp(-ka * t))

    found, covariance = curve_fit(closed, names["hours"], names["measured"], names["guess"])
    np.testing.assert_allclose(names["fit"].x, found, rtol=2e-3)
    np.testing.assert_allclose(np.sqrt(np.diag(names["covariance"])), np.sqrt(np.diag(covariance)), rtol=0.1)
    assert np.all(np.abs(names["fit"].x - [1.5, 0.08, 32.0]) < 3 * np.sqrt(np.diag(covariance)))


@known("guides/calibrate")
def is_the_model_of_the_house_found(names):
    """The parameters that the data were made with; and what a fit to other data moves."""
    from scipy.optimize import least_squares

    fit, error = names["fit"], names["error"]
    assert np.all(np.abs(fit.x - np.log([5.0, 4.0])) < 3 * error) and np.all(error < 0.01)
    outside, *rest = names["data"]
    solutions = [least_squares(names["residuals"], fit.x, args=(outside + s, *rest), xtol=1e-14).x for s in (-0.1, 0.1)]
    np.testing.assert_allclose(np.sum(names["moved"], axis=1), (solutions[1] - solutions[0]) / 0.2, rtol=0.06)


@known("guides/ode")
def are_the_sensitivities_those_of_differences(names):
    from scipy.integrate import solve_ivp

    def at(p):
        return solve_ivp(lambda t, y: names["rhs"](y, p), (0, 5), names["y0"], rtol=1e-11, atol=1e-11).y[:, -1]

    p = names["p"]
    by_differences = np.stack([(at(p + h) - at(p - h)) / 2e-5 for h in 1e-5 * np.eye(4)], axis=1)
    np.testing.assert_allclose(s2s.jacobian(names["state_at"])(p, names["y0"], 5.0), by_differences, rtol=1e-4)
    np.testing.assert_allclose(s2s.jacobian(names["solve"])(p, names["y0"], 0.01, 500), by_differences, rtol=1e-4)
    np.testing.assert_allclose(s2s.grad(names["prey_after"])(p, names["y0"], 0.01, 500), by_differences[0], rtol=1e-3)


@known("guides/network")
def is_the_network_right_about_what_it_has_not_seen(names):
    assert np.mean(names["right"]) > 0.9
    assert s2s.check_grads(names["loss"], (names["found"].params, names["x"], names["label"]), order=1)


@known("guides/molecular_dynamics")
def are_forces_and_pressure_those_of_pairs(names):
    """The force of each pair, and the virial as the sum of r f(r), in closed form."""
    x, box = names["x"], names["box"]
    d = x[:, None] - x[None]
    d -= box * np.round(d / box)
    r2 = np.sum(d * d, axis=-1) + np.eye(len(x))
    near = (r2 < 2.5**2) & ~np.eye(len(x), dtype=bool)
    over_r = np.where(near, 24.0 * (2.0 * r2**-6 - r2**-3) / r2, 0.0)
    force = np.sum(over_r[..., None] * d, axis=1)
    np.testing.assert_allclose(-names["slope"](x, box), force, rtol=1e-9, atol=1e-9)
    assert names["virial"] == pytest.approx(0.5 * np.sum(over_r * r2) / (3.0 * box**3), rel=1e-9)
    assert np.ptp(names["total"]) < 1e-4 * abs(names["total"][0])


@known("guides/bundle_adjustment")
def is_the_scene_adjusted(names):
    fit, data = names["fit"], names["data"]
    assert np.sqrt(np.mean(fit.fun**2)) == pytest.approx(0.5 * np.sqrt(133 / 240), rel=0.1)
    jacobian = names["jacobian"](fit.x, *data).toarray()
    for k in (0, 4, 23, 24, 100):
        h = 1e-6 * (np.arange(len(fit.x)) == k)
        change = (names["residuals"](fit.x + h, *data) - names["residuals"](fit.x - h, *data)) / 2e-6
        np.testing.assert_allclose(jacobian[:, k], change, rtol=1e-5, atol=1e-4)


@known("guides/dataframes")
def is_the_curve_that_scipy_fits_found(names):
    from scipy.optimize import curve_fit

    dose, response = names["columns"]
    expected = curve_fit(lambda d, top, half: top * d / (half + d), dose, response, [1.0, 1.0])[0]
    found = names["found"].params
    np.testing.assert_allclose([found["top"], found["half"]], expected, rtol=1e-4)
    residual = expected[0] * dose / (expected[1] + dose) - response
    np.testing.assert_allclose(names["table"]["influence"], -2.0 * residual, atol=1e-3)


@known("guides/fit_and_solve")
def is_the_reactor_that_of_the_closed_forms(names):
    from scipy.optimize import curve_fit

    p, steady = names["p"], names["steady"].x
    found, covariance = curve_fit(lambda s, a, b: a * s / (b + s), names["sugar"], names["rate"], [1.0, 1.0])
    np.testing.assert_allclose([p["top"], p["half"]], found, rtol=1e-5)
    np.testing.assert_allclose(names["covariance"], covariance, rtol=1e-4)
    left = p["half"] * 0.3 / (p["top"] - 0.3)
    np.testing.assert_allclose([steady["sugar"], steady["cells"]], [left, 0.5 * (10.0 - left)], rtol=1e-8)
    assert names["run"].y[0, -1] == pytest.approx(steady["cells"], rel=1e-5)
    assert names["slope"] == pytest.approx(0.5 * (10.0 - left) - 0.15 * p["half"] * p["top"] / (p["top"] - 0.3) ** 2)


@known("guides/fast_loops")
def is_the_gradient_of_the_likelihood_that_of_differences(names):
    p, returns, f = names["p"], names["returns"], names["unlikelihood"]
    by_differences = [(f(p + h, returns) - f(p - h, returns)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(names["compiled"](p, returns), by_differences, rtol=1e-4)
    assert f(names["fit"].x, returns) < f(p, returns)


@known("guides/profile_and_debug")
def do_the_watched_cotangents_shrink(names):
    W, x = names["W"], names["x"]
    h, states = x, []
    for _ in range(20):
        h = np.tanh(0.5 * W @ h)
        states.append(h)
    g, expected = np.sign(h), []
    for h in reversed(states):
        expected.append(np.linalg.norm(g))
        g = 0.5 * W.T @ (g * (1.0 - h * h))
    np.testing.assert_allclose(names["sizes"], expected, rtol=1e-9)
