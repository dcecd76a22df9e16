"""Values that go through text, sets and dicts: followed, or refused where a derivative would be lost; never zero."""

import array
import ast
import contextlib
import ctypes
import io
import os
import string
import struct

import numpy as np
import pytest

import s2s
from s2s.errors import DifferentiationError, NoDerivativeError
from tests.helpers import check

X = np.array([1.0, 2.0, 3.0])


# --- text -----------------------------------------------------------------------------------------------------------


def of_str(a):
    return float(str(a)) * a


def of_repr(a):
    return complex(repr(2.0 * a)).real


def of_a_format(a):
    return float(f"{a:.6f}")


def of_percent(a):
    text = "%.9f" % a
    return np.float64(text)


def of_a_joined_text(a):
    return float("".join(["1", str(a)]))


def of_a_text_by_numpy(a):
    return float(np.format_float_positional(a))


def of_bytes(a):
    return np.frombuffer((a * np.ones(2)).tobytes())[0]


READ = [of_str, of_repr, of_a_format, of_percent, of_a_joined_text, of_a_text_by_numpy, of_bytes]


@pytest.mark.parametrize("f", READ)
def test_a_number_read_from_text_is_refused(f):
    for derivative in (lambda: s2s.grad(f)(0.5), lambda: s2s.jvp(f, (0.5,), (1.0,))):
        with pytest.raises(NoDerivativeError, match="it reads a number from text, where a derivative is lost") as info:
            derivative()
        assert info.value.diagnostic.hint == "use the number itself, or np.round"


def says(a, scale):
    text = "%.3f" % a
    print(text, f"{a:.2f}")
    if str(a) == "0.5" or text == "0.250":
        return a * float(scale) * len(repr(a))
    return 3.0 * a * float("2.5")


@pytest.mark.parametrize("a, slope", [(0.5, 6.0), (0.25, 8.0), (6.125, 7.5)])
def test_text_decides_and_is_printed(a, slope):
    """What a number looks like shows when the program runs; numbers of passive text are numbers like others."""
    assert s2s.value_and_grad(says)(a, "2") == (says(a, "2"), slope)
    assert s2s.jvp(says, (a, "2"), (1.0, None)) == (says(a, "2"), slope)


# --- dicts and sets -------------------------------------------------------------------------------------------------


def merged(x):
    both = {"a": x[0], "b": x[1]} | {"b": 2.0 * x[1] * x[2]}
    return sum(both.values())


def merged_in_place(x):
    entries = {"a": x[0]}
    entries |= {"a": x[0] * x[1], "b": x[2] ** 2}
    return entries["a"] + entries["b"]


def merged_arguments(first, second):
    both = first | second
    return both["a"] * both["b"]


def test_dicts_that_are_merged():
    np.testing.assert_allclose(s2s.grad(merged)(X), [1.0, 6.0, 4.0])
    assert s2s.jvp(merged, (X,), (np.ones(3),))[1] == pytest.approx(11.0)
    np.testing.assert_allclose(s2s.grad(merged_in_place)(X), [2.0, 1.0, 6.0])
    first, second = s2s.grad(merged_arguments, argnums=(0, 1))({"a": 2.0, "b": 5.0}, {"b": 3.0})
    assert (first, second) == ({"a": 3.0, "b": 0.0}, {"b": 2.0})


def united(x):
    return sum({x[0], x[1]} | {3.0 * x[2]})


def grown(x):
    found = {x[0]}
    found |= {2.0 * x[1]}
    return sum(found)


def common(x):
    return max({x[0], 2.0} & {x[0]})


def apart(x):
    total = 0.0
    for value in {x[0], 2.0} ^ {x[1]}:
        total += value
    return total


@pytest.mark.parametrize("f", [united, grown, common, apart])
def test_sets_of_what_is_differentiated_are_refused(f):
    for derivative in (lambda: s2s.grad(f)(X), lambda: s2s.jvp(f, (X,), (X,))):
        with pytest.raises(NoDerivativeError):
            derivative()


def masks(x, flags):
    chosen = (x > 1.5) & flags | (x < 1.0) ^ flags
    return np.sum(x[chosen] ** 2)


def test_masks_are_as_before():
    flags = np.array([True, False, True])
    chosen = (X > 1.5) & flags | (X < 1.0) ^ flags
    np.testing.assert_allclose(s2s.grad(masks)(X, flags), 2.0 * X * chosen)


# --- parts of results -----------------------------------------------------------------------------------------------


def distinct(x):
    found = np.unique_counts(x)
    return np.sum(found.values**2 * found.counts)


def frequencies(d):
    return np.sum(np.fft.fftfreq(8, d) ** 2) + np.fft.rfftfreq(8, d=d)[1]


def open_grid(x):
    rows, columns = np.ix_(x, 2.0 * x)
    return np.sum(rows**2 * columns)


def test_results_with_values_in_them():
    np.testing.assert_allclose(s2s.grad(distinct)(np.array([3.0, 1.0, 3.0])), [6.0, 2.0, 6.0])
    expected = -2.0 * np.sum(np.fft.fftfreq(8, 0.5) ** 2) / 0.5 - 0.25 / 0.5
    assert s2s.grad(frequencies)(0.5) == pytest.approx(expected)
    assert s2s.jvp(frequencies, (0.5,), (1.0,))[1] == pytest.approx(expected)
    np.testing.assert_allclose(s2s.grad(open_grid)(X), 4.0 * X * np.sum(X) + 2.0 * np.sum(X**2))


def windows(n):
    return np.hanning(n)[1] + np.hamming(n)[2] + np.blackman(n)[1] + np.bartlett(n)[1]


def test_windows_by_the_number_of_their_points():
    expected = (windows(6.5 + 1e-6) - windows(6.5 - 1e-6)) / 2e-6
    assert s2s.grad(windows)(6.5) == pytest.approx(expected, rel=1e-7)
    assert s2s.jvp(windows, (6.5,), (1.0,))[1] == pytest.approx(expected, rel=1e-7)


# --- written down, and read back -------------------------------------------------------------------------------------


def parse(text):
    return float(text)


def by_a_function(x):
    return parse(str(float(x[0]))) ** 2


def of_a_split_text(x):
    return sum(float(s) for s in ",".join([str(v) for v in x]).split(","))


def in_a_buffer(x):
    buffer = io.StringIO()
    buffer.write(str(float(x[0])))
    return float(buffer.getvalue()) ** 2


def printed(x):
    buffer = io.StringIO()
    print(float(x[0]), file=buffer)
    return float(buffer.getvalue()) ** 2


def redirected(x):
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        print(float(x[0]))
    return float(buffer.getvalue()) ** 2


def in_the_environment(x):
    os.environ["S2S_TEST_VALUE"] = str(float(x[0]))
    return float(os.environ["S2S_TEST_VALUE"]) ** 2


def by_getenv(x):
    os.environ.update(S2S_TEST_VALUE=repr(float(x[0])))
    return float(os.getenv("S2S_TEST_VALUE")) ** 2


def in_a_file(x, path):
    with open(path, "w") as file:
        file.write(repr(float(x[0])))
    with open(path) as file:
        return float(file.read()) ** 2


def in_a_file_of_numpy(x, path):
    x.tofile(path)
    return np.sum(np.fromfile(path) ** 2)


def as_a_literal(x):
    return ast.literal_eval(repr(float(x[0]))) ** 2


def by_numpy(x):
    return np.sum(np.fromstring(" ".join(map(str, x)), sep=" ") ** 2)


def as_an_array_of_texts(x):
    return np.sum(np.array([str(v) for v in x]).astype(float) ** 2)


def by_halves(x):
    whole, fraction = repr(float(x[0])).split(".")
    return x[1] * (int(whole) + int(fraction) / 10 ** len(fraction))


def by_digits(x):
    s = 0.0
    for k, c in enumerate(str(float(x[0])).replace(".", "")):
        s += (ord(c) - ord("0")) * 10.0**-k
    return s * x[1]


def by_places_of_digits(x):
    s = 0.0
    for k, c in enumerate(str(float(x[0])).replace(".", "")):
        s += "0123456789".index(c) * 10.0**-k
    return s * x[1]


def by_an_integer(x):
    n = int(f"{x[0]:.6f}".replace(".", "")) * 3
    thousands, rest = divmod(n, 1000)
    return x[1] * (thousands * 1e-3 + rest * 1e-6)


def in_bytes_that_change(x):
    buffer = bytearray(24)
    buffer[:] = x.tobytes()
    return np.sum(np.frombuffer(buffer) ** 2)


WRITTEN = [
    by_a_function, of_a_split_text, in_a_buffer, printed, redirected, in_the_environment, by_getenv, in_a_file,
    in_a_file_of_numpy, as_a_literal, by_numpy, as_an_array_of_texts, in_bytes_that_change, by_halves, by_digits,
    by_places_of_digits, by_an_integer,
]


@pytest.mark.grid(0.3)
@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_what_is_read_back_is_refused(f, derivative, tmp_path):
    rest = (str(tmp_path / "values"),) * (f.__code__.co_argcount - 1)
    with pytest.raises(NoDerivativeError) as info:
        derivative(f)(X, *rest)
    assert info.value.diagnostic.code == "S2S180"
    assert info.value.diagnostic.span.file == __file__


def test_the_message_of_what_is_read_back():
    with pytest.raises(NoDerivativeError) as info:
        s2s.grad(in_a_buffer)(X)
    line = in_a_buffer.__code__.co_firstlineno + 2
    first, place, *_, marked, hint = str(info.value).splitlines()
    assert first == "`str` converts a differentiated value to text or bytes that are read back as numbers [S2S180]"
    assert place.endswith(f":{line}:18 in `in_a_buffer`")
    assert marked.lstrip(" |") == "^^^^^^^^^^^^^^^^ its derivative is lost here"
    assert hint.endswith(
        "compute with the value itself; where a number without a derivative is meant, with `s2s.stop_gradient`")


def logged(x):
    log = io.StringIO()
    print("the value is", x, file=log)
    log.write(f"{x[0]:.3f}")
    return np.sum(x * x)


def kept_by_a_text(x):
    cache = {}
    cache[str(x)] = np.sum(x * x)
    return cache[str(x)]


def as_long_as_its_text(x):
    return len(str(x.shape)) * np.sum(x * x)


def beside_its_text(x):
    return np.sum(x * x), str(x)


@pytest.mark.parametrize("f", [logged, kept_by_a_text, as_long_as_its_text], ids=lambda f: f.__name__)
def test_what_is_written_and_not_read_back_is_no_matter(f):
    np.testing.assert_allclose(s2s.grad(f)(X), s2s.grad(lambda x: f(X) / np.sum(X * X) * np.sum(x * x))(X), rtol=1e-12)


def test_auxiliary_text():
    gradient, text = s2s.grad(beside_its_text, has_aux=True)(X)
    np.testing.assert_array_equal(gradient, 2 * X)
    assert text == str(X)


# --- what code that is not Python keeps, or gives back -----------------------------------------------------------


class Point(ctypes.Structure):
    _fields_ = [("v", ctypes.c_double)]


class Numbers(array.array):
    pass


def in_a_number_of_c(a):
    return ctypes.c_double(a).value * a


def in_a_structure_of_c(a):
    point = Point()
    point.v = a
    return point.v * a


def in_a_structure_at_once(a):
    return Point(a).v * a


def in_an_array_of_bytes(a):
    return array.array("d", [a, a])[0] * a


def in_a_class_of_c(a):
    return Numbers("d", [a])[0] * a


def in_a_template(a):
    return float(string.Template("$x").substitute(x=a)) * a


def in_characters(a):
    return float(str(np.char.add(str(a), ""))) * a


def in_an_array_of_text(a):
    return float(np.array([a]).astype(str)[0]) * a


def in_an_array_made_of_text(a):
    return np.array([a], dtype="U30").astype(float)[0] * a


def in_records(a):
    return np.array([(a, 1)], dtype=[("x", float), ("n", int)])["x"][0] * a


def by_its_address(a):
    z = np.zeros(1)
    ctypes.memmove(z.ctypes.data, np.array([a]).ctypes.data, 8)
    return z[0] * a


def in_a_default(a):
    return (lambda v=a: v).__defaults__[0] * a


def in_a_closure(a):
    def g():
        return a

    return g.__closure__[0].cell_contents * a


def packed(a):
    return struct.unpack("d", struct.pack("d", a))[0] * a


KEPT = [
    in_a_number_of_c, in_a_structure_of_c, in_a_structure_at_once, in_an_array_of_bytes, in_a_class_of_c,
    in_characters, in_an_array_of_text, in_an_array_made_of_text, in_records, by_its_address,
    in_a_default, in_a_closure, packed,
]


@pytest.mark.parametrize("f", KEPT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_what_is_kept_where_it_is_not_seen_is_refused(f, derivative):
    assert f(0.8) == pytest.approx(0.64)
    with pytest.raises(DifferentiationError) as info:
        derivative(f)(0.8)
    assert info.value.diagnostic.span.file == __file__


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_a_keyword_of_a_call_that_is_decided_at_run_time_is_refused(derivative):
    with pytest.raises(NoDerivativeError) as info:
        derivative(in_a_template)(0.8)
    assert info.value.diagnostic.code == "S2S203"


def filled_in(a):
    return float(string.Template("$value").substitute(value=a)) * a


def formatted(a):
    return float(string.Formatter().format("{value}", value=a)) * a


def next_of_ndenumerate(a):
    return np.ndenumerate(X * a).__next__()[1]


def next_of_ndindex(a):
    return (X * a)[np.ndindex(2).__next__()]


def next_of_an_iterator(a):
    return iter(X * a).__next__()


def next_of_an_array(a):
    return (X * a).__iter__().__next__()


def next_of_a_zip(a):
    return zip(X * a, X).__next__()[0]


@pytest.mark.parametrize("f", [
    filled_in, formatted, next_of_ndenumerate, next_of_ndindex, next_of_an_iterator, next_of_an_array, next_of_a_zip,
], ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_a_refusal_names_a_line(f, derivative):
    try:
        found = derivative(f)(0.7)
    except DifferentiationError as problem:
        assert problem.diagnostic.span is not None and "-->" in str(problem)
    else:
        assert found == pytest.approx(1.0)


class Read:
    def __call__(self, a):
        return float(str(a)) * 2.0


def caught_by_kind(a, functions):
    try:
        return functions[0](a)
    except Exception:
        return a * 3.0


def caught_by_all(a, functions):
    try:
        y = functions[0](a)
    except:  # noqa: E722
        y = a * 3.0
    return y * a


@pytest.mark.parametrize("f", [caught_by_kind, caught_by_all], ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_a_refusal_is_no_exception_of_the_program(f, derivative):
    """A handler of the program would give the derivative of another path."""
    with pytest.raises(DifferentiationError):
        derivative(f)(0.7, [Read()] * 40)


class Equal(type):
    ran = []

    def __hash__(cls):
        Equal.ran.append("hash")
        return 7

    def __eq__(cls, other):
        Equal.ran.append("eq")
        return cls is other


class Doubled(metaclass=Equal):
    def __init__(self, value):
        self.value = value

    def twice(self):
        return self.value * 2.0


def of_an_object_made(a):
    return Doubled(a).twice() * a


def of_a_class_by_another_name(a):
    kind = Doubled if a > 0 else float
    return kind(a).value * a


def of_a_class_that_is_only_named(a):
    return a * a if Doubled is not None else Doubled(a).twice()


def of_an_object_given(a, made):
    return a * made.value


@pytest.mark.parametrize("f, rest", [
    (of_an_object_made, ()), (of_a_class_by_another_name, ()), (of_a_class_that_is_only_named, ()),
    (of_an_object_given, (Doubled(1.4),)),
], ids=lambda f: getattr(f, "__name__", ""))
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_a_class_is_not_compared_by_its_own_code(f, rest, derivative):
    del Equal.ran[:]
    try:
        found = derivative(f)(0.7, *rest)
    except DifferentiationError:
        pass
    else:
        assert found == pytest.approx(1.4)
    assert not Equal.ran


def next_of_a_list(a):
    values = iter([a, 3.0 * a, a * a])
    values.__next__()
    return values.__next__() * next(values)


def test_next_as_a_method():
    check(next_of_a_list, (0.7,))


def of_a_list_by_a_loop(a):
    try:
        kept = X - a
        if a > 0.5:
            raise ValueError
    except Exception:
        pass
    total = 0.0
    for item in kept:
        total += kept[0] * item
    return total


def of_a_list_by_a_generator(a):
    try:
        kept = X - a
        if a > 0.5:
            raise ValueError
    except Exception:
        pass
    return sum(kept[0] * item for item in kept)


@pytest.mark.parametrize("f", [of_a_list_by_a_loop, of_a_list_by_a_generator], ids=lambda f: f.__name__)
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_a_loop_over_what_may_not_be_known(f, derivative):
    assert derivative(f)(0.3) == pytest.approx(-7.2)
    with pytest.raises(DifferentiationError, match="S2S104"):
        derivative(f)(0.7)


def in_a_class_of_its_own(a):
    return type("T", (), {"v": a}).v * a


def in_merged_dicts(a):
    return ({"k": a} | {"j": 1.0})["k"] * a


def labelled(a):
    labels = np.array([a]).astype(str)
    return a * a * len(labels)


def cut(a):
    x = np.arange(5.0) * a
    return np.sum(x[slice(int(a * 3), None)]) * a


@pytest.mark.parametrize("f", [in_merged_dicts, labelled, cut], ids=lambda f: f.__name__)
def test_what_is_only_looked_at_is_no_obstacle(f):
    check(f, (0.8,))


@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_attributes_of_classes_are_refused_or_right(derivative):
    with contextlib.suppress(DifferentiationError):
        assert derivative(in_a_class_of_its_own)(0.8) == pytest.approx(1.6)


def left_from_a_try_in_a_loop(a, y, n):
    def first(v):
        match n:
            case 1 | 2:
                for j in range(1, n):
                    try:
                        for k, item in enumerate(y):
                            match (k, [v, np]):
                                case [_, [_, _]]:
                                    match j:
                                        case 0:
                                            return item - v
                                        case _:
                                            pass
                    except IndexError:
                        pass
                    finally:
                        _ = lambda _: v  # noqa: B023
            case _:
                pass

    first(a)
    return a * a


@pytest.mark.parametrize("n", [1, 2, 3])
def test_what_a_try_may_leave_is_not_read_where_paths_join(n):
    check(left_from_a_try_in_a_loop, (0.8, np.ones(3), n))
