"""Settings, options and small objects of other packages: what is looked up when compiling is looked up again later."""

import collections
import contextlib
import importlib
import sys
import types

import numpy as np
import pytest

import s2s
from s2s.errors import UnsupportedSyntaxError

LIBRARY = '''
import contextlib
import functools
import inspect
import sys
import threading
import numpy as np

_defaults = {"double": False, "size": 3}
_local = threading.local()
_NAMES = {"numpy", "torch"}
_FROZEN = frozenset({"plain"})
_MISSING = object()


def _settings():
    if not hasattr(_local, "settings"):
        _local.settings = _defaults.copy()
    return _local.settings


def get_settings():
    return _settings().copy()


def set_double(value):
    _settings()["double"] = value


@contextlib.contextmanager
def doubled(value):
    before = get_settings()
    set_double(value)
    try:
        yield
    finally:
        set_double(before["double"])


def scaled(x):
    return x * (2.0 if get_settings()["double"] else 1.0)


def has_optional():
    try:
        optional = sys.modules["s2s_optional_package"]
    except KeyError:
        return False
    return hasattr(optional, "__name__")


def by_packages(x):
    if "s2s_optional_package" in sys.modules:
        x = 3.0 * x
    if sys.modules.get("s2s_optional_package") is not None:
        x = 5.0 * x
    return 7.0 * x if has_optional() else x


def namespace(x, given=_MISSING):
    name = "numpy" if given is _MISSING else given
    if name in _NAMES and "plain" in list(_FROZEN):
        return np, [x], f"lib.{name}"
    return None, [], ""


def pick(x, mask):
    xp, arrays, name = namespace(x)
    out = xp.empty(x.shape, dtype=x.dtype, device="cpu" if name == "lib.numpy" else None)
    out[()] = arrays[0]
    at(out)[mask].set(0.5 * x[mask])
    return at(out)[~mask].set(x[~mask] ** 2)


class at:
    def __init__(self, x, idx=_MISSING):
        self._x = x
        self._idx = idx

    def __getitem__(self, idx):
        if self._idx is not _MISSING:
            raise ValueError("twice")
        return type(self)(self._x, idx)

    def set(self, y):
        x = self._x
        if not x.flags.writeable:
            x = np.array(x, copy=True)
        x[self._idx] = y
        return x


signature = functools.lru_cache(inspect.signature)


class Kernel:
    def get_params(self):
        return {p: getattr(self, p) for p in signature(type(self).__init__).parameters if p != "self"}

    def clone(self):
        return type(self)(**{k: clone(v) for k, v in self.get_params().items()})

    @property
    def rates(self):
        return [getattr(self, name) for name in dir(self) if name.startswith("rate_")]


def clone(value):
    return value.clone() if hasattr(value, "clone") else value


class Constant(Kernel):
    def __init__(self, rate, bounds=(0.0, 1.0)):
        self.rate = rate
        self.bounds = bounds

    @property
    def rate_constant(self):
        return self.rate

    def __call__(self, x):
        return self.rate * x


class Sum(Kernel):
    def __init__(self, first, second):
        self.first = first
        self.second = second

    @property
    def rate(self):
        return self.first.rate

    @rate.setter
    def rate(self, value):
        self.first.rate = value
        self.second.rate = value**2

    def __call__(self, x):
        return self.first(x) + self.second(x) * x


KERNEL = Sum(Constant(1.0), Constant(2.0))


def with_rate(rate, x):
    kernel = KERNEL.clone()
    kernel.rate = rate
    return np.sum(kernel(x)) * len(kernel.first.rates)


def guarded(x):
    try:
        x = np.linalg.inv(x)
        x = np.linalg.inv(x + 1.0)
    except np.linalg.LinAlgError as problem:
        raise ValueError(f"singular: {x}") from problem
    return np.sum(x)
'''

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def library(tmp_path, monkeypatch):
    (tmp_path / "s2s_settings_library.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("s2s_settings_library")
    sys.modules.pop("s2s_settings_library", None)


def slope(f, x, h=1e-6):
    """Central differences."""
    x = np.asarray(x, float)
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(f(x + step) - f(x - step)) / (2.0 * h) for step in steps]).reshape(x.shape)


def agrees(f, x):
    np.testing.assert_allclose(s2s.grad(f)(x), slope(f, x), rtol=1e-6, atol=1e-8)


# --- settings -------------------------------------------------------------------------------------------------------


def test_settings_of_a_thread_are_looked_up_at_each_call(library):
    gradient = s2s.grad(lambda x: library.scaled(x))
    assert gradient(1.5) == 1.0  # no settings yet: those that are made are the defaults
    library.set_double(False)
    assert gradient(1.5) == 1.0 and "get_settings" not in gradient.source
    library.set_double(True)
    assert gradient(1.5) == 2.0


def test_packages_are_looked_for_at_each_call(library, monkeypatch):
    gradient = s2s.grad(lambda x: library.by_packages(x))
    assert gradient(1.5) == 1.0 and "modules" not in gradient.source
    monkeypatch.setitem(sys.modules, "s2s_optional_package", types.ModuleType("s2s_optional_package"))
    assert gradient(1.5) == 105.0


class Holder:
    """An object whose attributes come and go."""

    def __init__(self):
        self.a = 2.0


holder = Holder()


def by_attribute(x):
    return x * 3.0 if hasattr(holder, "b") else x * holder.a


def by_attribute_of_argument(x, held):
    return x * 3.0 if getattr(held, "b", None) is not None else x * held.a


def test_an_attribute_that_is_not_there_may_come_and_go():
    gradient, other = s2s.grad(by_attribute), s2s.grad(by_attribute_of_argument)
    held = Holder()
    assert gradient(1.0) == 2.0 and other(1.0, held) == 2.0
    holder.b = held.b = 1.0
    assert gradient(1.0) == 3.0 and other(1.0, held) == 3.0
    del holder.b, held.b
    assert gradient(1.0) == 2.0 and other(1.0, held) == 2.0


def test_sets_and_sentinels_of_a_module(library):
    mask = np.array([True, False, True])
    agrees(lambda x: np.sum(library.pick(x, mask) * X), np.array([1.5, -2.0, 3.0]))
    source = s2s.source(lambda x: np.sum(library.pick(x, mask) * X), X)
    assert "namespace" not in source and "writeable" not in source
    gradient = s2s.grad(lambda x: np.sum(library.pick(x, mask) * X))
    gradient(X)
    library._NAMES.clear()
    with pytest.raises(AttributeError):
        gradient(X)


def test_objects_are_cloned_by_their_signature_and_set_by_properties(library):
    x = np.array([0.5, 1.5])
    agrees(lambda rate: library.with_rate(rate, x), 1.3)
    agrees(lambda x: library.with_rate(x[0], x), x)
    assert library.KERNEL.rate == 1.0


def test_a_handler_that_cannot_be_followed_is_refused_when_it_runs(library):
    gradient = s2s.grad(lambda x: library.guarded(x))
    agrees(lambda x: library.guarded(x), np.array([[2.0, 0.5], [0.1, 1.0]]))
    with pytest.raises(UnsupportedSyntaxError, match=r"\[S2S141\]"):
        gradient(np.zeros((2, 2)))


# --- records --------------------------------------------------------------------------------------------------------


class Doubled(collections.namedtuple("Doubled", "x y")):
    """A named tuple that is not made of what it is given."""

    def __new__(cls, x, y=1.0):
        return super().__new__(cls, x * 2.0, y)


class Result(collections.namedtuple("Result", "statistic pvalue")):
    """A named tuple with further attributes."""

    def __new__(cls, statistic, pvalue, n):
        return super().__new__(cls, statistic, pvalue)

    def __init__(self, statistic, pvalue, n):
        self.n = n
        self.other = statistic


class Counted(collections.namedtuple("Counted", "x y")):
    """A named tuple whose construction is seen elsewhere."""

    def __new__(cls, x, log):
        return super().__new__(cls, x, 0.0)

    def __init__(self, x, log):
        log.append(x)


def test_a_named_tuple_with_a_constructor_of_its_own():
    def f(x):
        record = Doubled(x, 3.0)
        return record.x * record.y + Doubled(x)[0] ** 2

    agrees(f, 1.5)


def test_a_named_tuple_with_further_attributes():
    def f(x):
        statistic, pvalue = result = Result(x**2, x, 3)
        return statistic * pvalue + result.statistic

    agrees(f, 1.5)

    def g(x):
        return Result(x**2, x, 3).other

    with pytest.raises(s2s.errors.DifferentiationError):
        s2s.grad(g)(1.5)


def test_a_named_tuple_that_does_more_is_refused():
    def f(x):
        log = []
        record = Counted(x, log)
        return record.x * log[0]

    with pytest.raises(UnsupportedSyntaxError, match="does more than to store attributes"):
        s2s.grad(f)(1.5)


# --- sets, lengths, tests -------------------------------------------------------------------------------------------


def test_sets_of_constants_and_of_shapes():
    def f(x):
        y = 2.0 * x
        shapes = {a.shape for a in (x, y)}
        names = ({"a", "b"} | {"c"}) - set(["c"])
        if len(shapes) != 1 or names & {"d"} or not names >= {"a"}:
            return np.sum(x)
        ((n,),) = shapes
        return np.sum(x * y) * len(names ^ {"a", "e"}) * n

    agrees(f, X)
    assert "shapes" not in s2s.source(f, X)


def test_numbers_in_a_set_are_compared_when_the_program_runs():
    def f(x, n):
        return x * len({n, 2})

    assert s2s.grad(f)(1.0, 2) == 1.0 and s2s.grad(f)(1.0, 3) == 2.0


def test_lengths_after_two_branches_are_two_lengths():
    def f(x, z, first, second):
        y = np.concatenate([x, x])
        a = x if first > 0.0 else y
        b = a if second > 0.0 else z
        return np.sum(a * b**2)

    gradient = s2s.grad(f, argnums=(0, 1))
    z = np.array([2.0])
    for first, second in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        found = gradient(X, z, first, second)
        np.testing.assert_allclose(found[0], slope(lambda x: f(x, z, first, second), X), rtol=1e-6)
        np.testing.assert_allclose(found[1], slope(lambda z: f(X, z, first, second), z), rtol=1e-6, atol=1e-8)


def test_lengths_after_a_branch_and_a_loop_are_two_lengths():
    def f(x, z, first, n):
        a = x if first > 0.0 else np.concatenate([x, x])
        b = a
        for _ in range(n):
            b = z
        return np.sum(a * b**2)

    gradient = s2s.grad(f, argnums=(0, 1))
    z = np.array([2.0])
    for first, n in ((1.0, 0), (1.0, 2), (-1.0, 0), (-1.0, 1)):
        found = gradient(X, z, first, n)
        np.testing.assert_allclose(found[0], slope(lambda x: f(x, z, first, n), X), rtol=1e-6)
        np.testing.assert_allclose(found[1], slope(lambda z: f(X, z, first, n), z), rtol=1e-6, atol=1e-8)


def test_a_shape_is_no_number():
    def lambert(x):
        w = np.full_like(x, np.nan)
        small = x <= 2.0
        w[small] = x[small] ** 2
        w[~small] = np.log(x[~small])
        return w[0] if w.shape == 1 else w

    def f(x):
        out = np.zeros_like(x)
        out[x > 1.5] = lambert(x[x > 1.5])
        return np.sum(out * X)

    agrees(f, np.array([1.6, 1.0, 3.0]))
    assert "shape == 1" not in s2s.source(f, X)


def test_tests_that_one_side_decides():
    def f(x, policy):
        found = np.any(x > 1.0)
        if found and policy == "omit":
            x = [x]
        if found or policy == "keep":
            x = x * 2.0
        return np.sum(x**2)

    np.testing.assert_allclose(s2s.grad(f)(X, "keep"), 8.0 * X)
    assert "if" not in s2s.source(f, X, "keep").split("forward sweep")[1].split("reverse")[0]


# --- arrays ---------------------------------------------------------------------------------------------------------


def test_arrays_of_rank_0_that_are_changed():
    def clip(x):
        out = np.empty((), dtype=x.dtype)
        out[()] = x
        low = np.asarray(-1.0)
        below = (out < low) | np.isnan(low)
        out[below] = low[below]
        return out[()]

    def f(x):
        r = np.vdot(x, x) ** 0.5
        y = np.array(clip(r))
        y[r > 10.0] = np.nan
        return np.where(r > 3.0, y**2, y)

    agrees(f, X)
    agrees(f, 0.1 * X)


def test_what_linear_algebra_makes_is_new():
    targets = np.array([1.0, 2.0])
    data = types.SimpleNamespace(targets=targets)

    def f(x):
        k = np.outer(x, x)
        k[np.diag_indices_from(k)] += 2.0
        half = np.linalg.cholesky(k)
        alpha = np.linalg.solve(half @ half.T, data.targets)
        return data.targets @ alpha

    agrees(f, np.array([0.5, -1.0]))


def test_polynomials_as_objects():
    def f(x):
        p = np.polynomial.Polynomial(x)
        return p(0.5) + p.deriv()(0.25)

    agrees(f, X)
    agrees(lambda x: np.polynomial.Chebyshev([1.0, 2.0, 0.5])(x), 0.3)


def test_polynomials_are_added_and_multiplied():
    def f(x):
        p = np.polynomial.Polynomial(x)
        return (p * p + 1)(0.5) + np.polynomial.Chebyshev(x).deriv()(0.2)

    agrees(f, X)


# --- objects made in a block that an exception may interrupt --------------------------------------------------------


class Held:
    def __init__(self, a):
        self.a = a


def test_objects_that_a_block_makes_are_seen_after_it():
    def f(x):
        found = {}
        try:
            found["inverse"] = np.linalg.inv(x)
            pair = [found["inverse"] @ x, x]
            held = Held(pair[1] ** 2)
        except np.linalg.LinAlgError as problem:
            raise ValueError("singular") from problem
        return np.sum(found["inverse"]) + np.sum(pair[0]) * np.sum(held.a)

    agrees(f, np.array([[2.0, 0.5], [0.1, 1.0]]))


def test_arrays_that_a_block_makes_and_changes():
    def f(x):
        try:
            y = np.linalg.inv(x)
            y[0] *= 2.0
            z = np.linalg.inv(y)
        except np.linalg.LinAlgError:
            z = x
        w = z.copy()
        w[0] = z[1]
        return np.sum(w**2)

    agrees(f, np.array([[2.0, 0.5], [0.1, 1.0]]))


# --- managers -------------------------------------------------------------------------------------------------------


def test_settings_under_a_manager_of_a_library(library):
    def f(x, inside):
        y = library.scaled(x)
        if inside:
            with library.doubled(True):
                y = y + library.scaled(x)
        return y + library.scaled(x)

    library.set_double(False)
    gradient = s2s.grad(f)
    assert gradient(1.5, True) == 4.0 and gradient(1.5, False) == 2.0
    source = gradient.source
    assert gradient(2.5, True) == 4.0 and gradient.source == source
    library.set_double(True)
    assert gradient(1.5, True) == 6.0


def test_settings_under_a_manager_of_the_same_package(library):
    @contextlib.contextmanager
    def doubled(value):
        library.set_double(value)
        yield
        library.set_double(False)

    def f(x):
        with doubled(True):
            y = library.scaled(x)
        return y

    library.set_double(False)
    assert f(1.5) == 3.0 and s2s.grad(f)(1.5) == 2.0


# --- masks ------------------------------------------------------------------------------------------------------------


def test_what_a_mask_leaves_out_may_have_no_finite_derivative():
    def f(x):
        w = x[0] * np.exp(x * 300.0)  # infinite for some
        big = np.isinf(w)
        out = np.zeros_like(w)
        out[~big] = np.log(w[~big])
        out[big] = np.log(x[0]) + x[big] * 300.0
        return np.sum(out**2)

    with np.errstate(all="ignore"):
        agrees(f, np.array([1.0, 2.0, 4.0]))


def test_reads_by_one_mask_have_one_length():
    def f(x):
        keep = x > 1.5
        a, b = x[keep], (x**2)[keep]
        c = np.zeros_like(x)
        c[keep] = a * b
        c[~keep] = x[~keep] - (x * X)[~keep]
        return np.sum(c * X)

    agrees(f, np.array([1.0, 2.0, 3.0]))
    assert "unbroadcast" not in s2s.source(f, X)


def test_a_mask_that_changes_chooses_other_items():
    def f(x):
        keep = x > 1.5
        a = x[keep]
        keep[1] = False
        b = (x**2)[keep]
        return np.sum(a * b)

    agrees(f, np.array([1.0, 2.0, 3.0]))

    def g(x):
        keep, total = x > 1.5, 0.0
        for i in range(2):
            total = total + np.sum(x[keep] * (x**2)[keep])
            keep[i + 1] = False
        return total

    agrees(g, np.array([1.0, 2.0, 3.0]))


# --- lists and calls ------------------------------------------------------------------------------------------------


def test_items_of_a_list_of_arrays_are_replaced_in_a_loop():
    def f(x, together):
        rows = [x[0], x[1], x[2]] if together < 0.0 else [x, x, x]
        found = [row * 1.0 for row in rows]
        for i in range(3):
            found[i] = found[i] * np.sum(rows[i]) * x[i]
        return np.sum(found[0]) + np.sum(found[1] * found[2])

    for together in (1.0, -1.0):
        np.testing.assert_allclose(s2s.grad(f)(X, together), slope(lambda x: f(x, together), X), rtol=1e-6)


def test_an_object_that_is_read_may_be_one_that_is_known():
    first, second = Holder(), Holder()
    table = [[first, 2.0], [second, 3.0], [1, 5.0]]

    def f(x, n):
        key, value = table[n]
        return x * (10.0 if key is first else value)

    gradient = s2s.grad(f)
    assert [gradient(1.0, n) for n in range(3)] == [10.0, 3.0, 5.0]


def test_lists_of_modules_are_read_when_the_program_runs(monkeypatch):
    def scaled(x):
        return float(sys.argv[1]) * x * len(sys.argv)

    gradient = s2s.grad(scaled)
    for arguments in (["program", "5"], ["program", "6"], ["program", "6", "more"]):
        monkeypatch.setattr(sys, "argv", arguments)
        assert gradient(2.0) == float(arguments[1]) * len(arguments)
        sys.argv[1] = "2.5"
        assert gradient(2.0) == 2.5 * len(arguments)
