"""Each row of the tables of docs/language.md, wherever it may stand: in one place in both modes and to second order, by
another nesting of the modes in each; in a third of the others in reverse mode, in a sixth in forward mode; with
``--every`` in all. Code of packages is searched for seconds, and is slow."""

import sys
import types
import warnings

import numpy as np
import pytest

import s2s
from tests.language.rows import PLACES
from tests.language.rows.page import groups
from tests.language.rows.refused import NESTINGS

X = np.array([0.41, 1.23, 0.92, 2.31])
ALONG = np.array([0.3, -0.7, 1.1, 0.2])

SECOND = {
    "top": lambda f, x, v: s2s.jacfwd(s2s.grad(f))(x) @ v,
    "loop": lambda f, x, v: s2s.hessian(f)(x) @ v,
    "callee": lambda f, x, v: s2s.jvp(s2s.grad(f), (x,), (v,))[1],
    "method": lambda f, x, v: s2s.jacrev(s2s.grad(f))(x) @ v,
}
"""The second derivative along a direction, in each place by another nesting of the modes."""

SUPPORTED = [(module, row) for module, group in groups() for row in group.rows]
ROWS = [
    pytest.param(
        module, row, PLACES[k % len(PLACES)], id=row.function.__name__, marks=pytest.mark.slow if row.needs else ()
    )
    for k, (module, row) in enumerate(SUPPORTED)
]


REFUSED = [pytest.param(row, id=row.function.__name__) for _, group in groups(("refused",)) for row in group.rows]


def placed(module, row, folder):
    """The example in its four places: a module in a file, so that the functions have source."""
    file = folder / f"{row.function.__name__}_placed.py"
    file.write_text(row.placed(), encoding="utf-8")
    made = types.ModuleType(file.stem)
    vars(made).update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    made.__file__ = str(file)
    exec(compile(row.placed(), str(file), "exec"), vars(made))
    return made


def slopes(f, x, h=1e-4):
    """The gradient by central differences of fourth order."""
    steps = h * np.eye(x.size)
    return np.array([8.0 * (f(x + e) - f(x - e)) - f(x + 2.0 * e) + f(x - 2.0 * e) for e in steps]) / (12.0 * h)


@pytest.mark.grid(0.15)
@pytest.mark.parametrize(("module", "row", "its_place"), ROWS)
def test_row(module, row, its_place, in_sample, tmp_path, monkeypatch):
    for package in row.needs:
        pytest.importorskip(package)
    monkeypatch.setenv("S2S_RECORDED", "1")
    made = placed(module, row, tmp_path)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for place in PLACES:
            is_its = place == its_place
            if is_its or row.recorded or in_sample(1 / 3, place):
                check_first(getattr(made, place), place, is_its or in_sample(1 / 2, "forward", place))
    recorded = [str(w.message) for w in caught if issubclass(w.category, s2s.RecordedWarning)]
    assert bool(recorded) == row.recorded, recorded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = [place for place in PLACES if place == its_place or row.first_order or in_sample(0, place)]
        refused = [is_refused(getattr(made, place), place, row.first_order) for place in places]
    assert any(refused) == bool(row.first_order)


def check_first(f, place, is_forward):
    slope = slopes(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X.copy()), slope, rtol=1e-6, atol=1e-6, err_msg=place)
    if is_forward:
        along = s2s.jvp(f, (X.copy(),), (ALONG,))[1]
        np.testing.assert_allclose(along, slope @ ALONG, rtol=1e-6, atol=1e-6, err_msg=place)


def is_refused(f, place, code):
    """Whether the second derivative is refused, with this code and no other; else it must be right."""
    gradient, h = s2s.grad(f), 1e-5
    bend = (gradient(X + h * ALONG) - gradient(X - h * ALONG)) / (2.0 * h)
    try:
        found = SECOND[place](f, X.copy(), ALONG)
    except s2s.errors.DifferentiationError as refusal:
        assert refusal.diagnostic.code == code, refusal
        return True
    np.testing.assert_allclose(found, bend, rtol=1e-5, atol=1e-5, err_msg=place)
    return False


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize("row", REFUSED)
def test_refused(row, monkeypatch):
    for package in row.needs:
        pytest.importorskip(package)
    monkeypatch.setenv("S2S_RECORDED", "1")
    assert np.isfinite(row.function(X.copy()))
    for derivative in (lambda: s2s.grad(row.function)(X.copy()), lambda: s2s.jvp(row.function, (X.copy(),), (ALONG,))):
        with pytest.raises(s2s.errors.DifferentiationError) as caught:
            derivative()
        assert caught.value.diagnostic.code == row.refused


@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize(("code", "examples"), [(code, examples) for _, code, _, examples in NESTINGS])
def test_refused_nestings(code, examples, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "1")
    for example in examples:
        with pytest.raises(s2s.errors.DifferentiationError) as caught:
            example()
        assert caught.value.diagnostic.code == code
