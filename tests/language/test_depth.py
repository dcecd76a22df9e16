"""Programs as deep as Python takes them: long sums, many arguments, nested blocks, recursion."""

import subprocess
import sys
import tempfile
import threading
import warnings

import numpy as np
import pytest

import s2s
from s2s.codegen import flatten
from s2s.core import stack
from s2s.frontend.lowering.pieces import LEVELS, parse

X = np.array([0.7, 1.3, 0.45])


@pytest.fixture
def made(tmp_path):
    """Makes the function ``f`` of a text, which is in a file."""
    number = 0

    def make(text):
        nonlocal number
        number += 1
        path = tmp_path / f"program_{number}.py"
        path.write_text(text)
        scope = {"np": np, "__name__": f"program_{number}"}
        exec(compile(text, str(path), "exec"), scope)
        return scope["f"]

    return make


def assert_gradient(f, expected):
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-9)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), expected, rtol=1e-9)


def by_differences(f):
    return np.array([(f(X + d) - f(X - d)) / 2e-6 for d in np.eye(3) * 1e-6])


# --- expressions -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sum_of_many_terms(made):
    terms = " + ".join(f"{k}.0 * x[{k % 3}]" for k in range(600))
    assert_gradient(made(f"def f(x):\n    return {terms}\n"), [sum(range(i, 600, 3)) for i in range(3)])


@pytest.mark.parametrize("text", [
    "return x[0] * x[1]" + ".real" * 520,
    pytest.param("return " + " + ".join(f"{k}.0 * x[0] * x[1]" for k in range(520)), marks=pytest.mark.slow),
], ids=["attributes", "terms"])
def test_what_may_be_recorded_is_compiled_on_a_large_stack(made, monkeypatch, text):
    monkeypatch.setenv("S2S_RECORDED", "1")
    scale = sum(range(520)) if " + " in text else 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", s2s.RecordedWarning)
        found = s2s.grad(made(f"def f(x):\n    {text}\n"))(X)
    np.testing.assert_allclose(found, [scale * X[1], scale * X[0], 0.0], rtol=1e-9)


def test_what_is_recorded_is_rewritten_on_a_large_stack(made, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", "always")
    assert_gradient(made(f"def f(x):\n    return x[0] * x[1]{'.real' * 520}\n"), [X[1], X[0], 0.0])


@pytest.mark.parametrize("line, count", [
    ("a = 1.3 * (a - np.floor(a))", 28),
    ("w = []\n    for v in a: w.append(np.floor(v))\n    a = 1.3 * (a - np.array(w))", 20),
], ids=["sums", "lists"])
def test_a_chain_of_remainders(made, line, count):
    lines = f"    {line}\n" * count
    assert_gradient(made(f"def f(a):\n{lines}    return np.sum(a)\n"), np.full(3, 1.3**count))


def test_a_sum_over_many_lines(made):
    terms = "\n        + ".join(f"x[{k % 3}]  # the {k}th" for k in range(300))
    assert_gradient(made(f"def f(x):\n    return (\n        {terms}\n    )\n"), [100.0, 100.0, 100.0])


@pytest.mark.slow
def test_five_thousand_terms():
    """In a process of its own: Python itself takes so many with a higher limit of recursion only, and 3.12, whose
    compiler has a limit of its own, about half of them."""
    program = """if True:
        import sys
        sys.setrecursionlimit(15_000)
        import numpy as np

        def source(count):
            terms = " + ".join(f"x[{k % 5}]" for k in range(count))
            return f"def f(x):\\n    return {terms}\\n"

        count = 5000
        while True:
            try:
                compile(source(count), "terms.py", "exec")
                break
            except RecursionError:
                count -= 500
        open("terms.py", "w").write(source(count))
        sys.path.insert(0, "")
        import s2s
        from terms import f
        x = np.ones(5)
        print(count, *set(s2s.grad(f)(x).tolist()))
        open("half.py", "w").write(source(count // 2))
        from half import f
        print(*set(s2s.jacfwd(f)(x).tolist()))
    """
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, timeout=300)
    assert found.stdout, found.stderr[-2000:]
    count, *derivatives = map(float, found.stdout.split())
    assert count >= (2000 if sys.version_info[:2] == (3, 12) else 5000)
    assert derivatives == [count / 5, count / 10]


@pytest.mark.parametrize("expression", [
    "(" * 150 + "x[0]" + " * 1.01)" * 150, "(1.0 + " * 150 + "x[0]" + ")" * 150, "-" * 151 + "x[0]",
    "[" * 80 + "x[0]" + "]" * 80 + "[0]" * 80, "x" + ".copy()" * 300 + "[0]",
    " and ".join(f"x[{k % 3}]" for k in range(40)), "x[1] if x[0] > 9.0 else " * 60 + "x[0]",
], ids=["left", "right", "signs", "lists", "methods", "and", "choices"])
def test_nested_expressions(made, expression):
    f = made(f"def f(x):\n    return {expression}\n")
    np.testing.assert_allclose(s2s.grad(f)(X), by_differences(f), atol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), by_differences(f), atol=1e-6)


@pytest.mark.slow
def test_many_arguments(made):
    names = ", ".join(f"a{k}" for k in range(500))
    given = ", ".join(f"x[{k % 3}]" for k in range(500))
    total = " + ".join(f"a{k}" for k in range(500))
    f = made(f"def g({names}):\n    return {total}\n\ndef f(x):\n    return g({given})\n")
    assert_gradient(f, [167.0, 167.0, 166.0])


@pytest.mark.slow
def test_a_dict_of_many_keys(made):
    entries = ", ".join(f"'k{k}': x[{k % 3}] * {k}.0" for k in range(400))
    f = made(f"def f(x):\n    d = {{{entries}}}\n    return sum(d.values())\n")
    assert_gradient(f, [sum(range(i, 400, 3)) for i in range(3)])


@pytest.mark.parametrize("begin, store", [
    ("{}", "d['k{k}'] = x[{i}] * {k}.0"), ("[]", "d.append(x[{i}] * {k}.0)"),
    ("[0.0] * 100", "d[{k}] = x[{i}] * {k}.0"),
], ids=["dict", "append", "list"])
def test_many_stores(made, begin, store):
    stores = "".join(f"    {store.format(k=k, i=k % 3)}\n" for k in range(100))
    held = "d.values()" if begin == "{}" else "d"
    key = "'k7'" if begin == "{}" else "7"
    f = made(f"def f(x):\n    d = {begin}\n{stores}    return sum({held}) * d[{key}]\n")
    expected = by_differences(f)
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-5)
    assert s2s.jvp(f, (X,), (X,))[1] == pytest.approx(X @ expected, rel=1e-5)


def test_a_list_of_many_zeros(made):
    f = made("def f(x):\n    v = [0.0] * 2000\n    v[1] = x[0]\n    v[2] = x[1] * v[1]\n    return v[2] * sum(v)\n")
    expected = [2 * 0.7 * 1.3 + 2 * 0.7 * 1.3**2, 0.7**2 + 2 * 0.7**2 * 1.3, 0.0]
    np.testing.assert_allclose(s2s.grad(f)(X), expected, rtol=1e-12)
    assert s2s.jvp(f, (X,), (X,))[1] == pytest.approx(X @ expected)


ITEMS = ", ".join(f"x[{k % 3}] * {k}.0" for k in range(70))


@pytest.mark.grid(0.5)
@pytest.mark.parametrize("body", [
    "for k in range(n):\n        y = y + v[k * 7 % 70] * v[-k]\n    return y * v[3]",
    "for k in range(n):\n        if y > 0.5:\n            y = y - v[k] * 0.001\n        else:\n"
    "            y = y + v[k + 1] * x[1]\n    return y",
    "if x[0] > 0.5:\n        y = v[n] * y\n    return y + v[n] ** 2",
    "for k in range(3):\n        w = [a * k for a in v]\n        for j in range(n):\n            y = y + w[j] * v[j]\n"
    "    return y",
    "for k in range(3):\n        y = y * v[n + k]\n    return y",
], ids=["read twice", "branches", "in one branch", "made in a loop", "few reads"])
@pytest.mark.parametrize("display", ["[{}]", "({})"], ids=["list", "tuple"])
def test_items_of_many_at_places_that_the_run_knows(made, display, body):
    text = f"def f(x):\n    y = x[0] * 1.1\n    n = int(x[1] * 10 + 0.5)\n    v = {display.format(ITEMS)}\n    {body}\n"
    f = made(text)
    np.testing.assert_allclose(s2s.grad(f)(X), by_differences(f), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), by_differences(f), rtol=1e-5, atol=1e-5)


def test_second_derivatives_of_items_at_places_that_the_run_knows(made):
    body = "for k in range(n):\n        y = y + v[k * 7 % 70] * v[-k] * 1e-3\n    return y * v[3]"
    f = made(f"def f(x):\n    y = x[0] * 1.1\n    n = int(x[1] * 10 + 0.5)\n    v = [{ITEMS}]\n    {body}\n")
    g = s2s.grad(f)
    expected = np.array([(g(X + d) - g(X - d)) / 2e-6 for d in np.eye(3) * 1e-6])
    np.testing.assert_allclose(s2s.jacfwd(g)(X), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(s2s.jacrev(g)(X), expected, rtol=1e-5, atol=1e-5)


# --- blocks ----------------------------------------------------------------------------------------------------------


def test_nested_branches(made):
    blocks = "".join(" " * (4 + k) + f"if x[0] > -{k}.0:\n" for k in range(60))
    assert_gradient(made(f"def f(x):\n    y = x[0]\n{blocks}{' ' * 64}y = y * x[1]\n    return y\n"), [1.3, 0.7, 0.0])


def test_many_early_returns(made):
    returns = "".join(f"    if x[0] > {k + 1}.0:\n        return y * {k}.0\n    y = y * 1.01\n" for k in range(60))
    f = made(f"def f(x):\n    y = x[0]\n{returns}    return y\n")
    assert_gradient(f, [1.01**60, 0.0, 0.0])


def nested_branches(n):
    """Bodies with ``n`` branches in each other, by their form."""
    arms = "".join(f"    {'el' * (k > 0)}if x[0] > {n - k}.0:\n        y = x[1] * {k}.0\n" for k in range(n))
    returns = "".join(f"    if x[0] > {k + 1}.0:\n        return y * {k}.0\n    y = y + x[1]\n" for k in range(n))
    cases = "".join(f"        case {k + 8} if x[0] < 9.0:\n            y = x[1] * {k}.0\n" for k in range(n))
    deep = "".join(f"{' ' * (8 + k)}if y < {k + 2}.0:\n{' ' * (9 + k)}y = y + x[2] * i\n" for k in range(min(n, 85)))
    end = " " * (8 + min(n, 85))
    tests = " and ".join(f"x[{k % 3}] > -{k}.0" for k in range(n))
    ends = f"{end}if i == 2:\n{end} break\n{end}if i == 1:\n{end} continue\n{end}y = y * x[0]\n"
    return {
        "elif": f"{arms}    else:\n        y = x[2] * x[0]\n    return y * y\n",
        "returns": f"{returns}    return y\n",
        "match": f"    match int(y * 10.0 + 0.5):\n{cases}        case _:\n            y = x[2]\n    return y * x[0]\n",
        "and": f"    if {tests}:\n        return y * x[1]\n    return x[2]\n",
        "choices": f"    return {'x[1] if y > 9.0 else ' * n}y * x[2]\n",
        "a loop": f"    for i in range(4):\n        y = y * x[1]\n{deep}{ends}    return y\n",
    }


FORMS = nested_branches(1).keys()


@pytest.mark.slow
@pytest.mark.grid(0.2)
@pytest.mark.parametrize("form", FORMS)
def test_more_branches_in_each_other_than_python_reads(made, form):
    f = made(f"def f(x):\n    y = x[0]\n{nested_branches(105)[form]}")
    np.testing.assert_allclose(s2s.grad(f)(X), by_differences(f), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), by_differences(f), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_flat_blocks_run_the_same_statements(made, form, monkeypatch):
    """With as few levels as there can be, every branch is put off behind a flag."""
    monkeypatch.setattr(flatten, "LEVELS", 3)
    monkeypatch.setattr(flatten, "_BRANCHES", 1)
    f = made(f"def f(x):\n    y = x[0]\n{nested_branches(9)[form]}")
    assert "reached = False" in s2s.source(f, X)
    np.testing.assert_allclose(s2s.grad(f)(X), by_differences(f), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), by_differences(f), rtol=1e-6, atol=1e-6)


def test_calls_in_calls(made):
    chain = "".join(f"def g{k}(y):\n    return g{k + 1}(y) * 1.01\n\n" for k in range(100))
    f = made(f"{chain}def g100(y):\n    return y * y\n\ndef f(x):\n    return g0(x[0])\n")
    assert_gradient(f, [1.4 * 1.01**100, 0.0, 0.0])


# --- recursion -------------------------------------------------------------------------------------------------------


def power(y, n):
    if n == 0:
        return y
    return power(y * 1.0001, n - 1)


def known_depth(x):
    return power(x[0], 800)


def until(y):
    if y > 800.0:
        return y * y
    return until(y + 1.0) * 0.9999


def depth_of_the_run(x):
    return until(x[0])


@pytest.mark.parametrize("f", [known_depth, depth_of_the_run], ids=lambda f: f.__name__)
def test_recursion_as_deep_as_the_program_can_go(f):
    """In threads of their own, whose stacks are empty as that of a program is."""
    found = {}

    def run():
        found["value"], found["primal"] = [s2s.grad(f)(X), s2s.jacfwd(f)(X)], by_differences(f)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for gradient in found["value"]:
        np.testing.assert_allclose(gradient, found["primal"], rtol=1e-5, atol=1e-5)


def for_ever(y):
    return for_ever(y * 1.0001)


@pytest.mark.slow
@pytest.mark.parametrize("derivative", [s2s.grad, s2s.jacfwd], ids=["reverse", "forward"])
def test_recursion_without_an_end_raises_what_the_program_raises(derivative):
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        derivative(lambda x: for_ever(x[0]))(X)
    assert sys.getrecursionlimit() == limit


def down(n, work):
    return work() if n == 0 else down(n - 1, work)


def test_a_compilation_where_little_of_the_stack_is_left():
    free = sys.getrecursionlimit() - 200
    depth = 0
    while True:
        try:
            sys._getframe(depth)
        except ValueError:
            break
        depth += 1
    gradient = down(free - depth, lambda: s2s.grad(lambda x: np.sum(np.sin(x) * x))(X))
    np.testing.assert_allclose(gradient, np.cos(X) * X + np.sin(X))


# --- a larger stack --------------------------------------------------------------------------------------------------


def test_work_on_another_stack_has_this_ones_context():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        stack.continued(lambda: np.ones(1) / np.zeros(1))
    assert stack.continued(stack.is_continued) is True
    assert stack.is_continued() is False


def test_the_limit_of_recursion_is_what_it_was():
    before = sys.getrecursionlimit()
    assert stack.continued(sys.getrecursionlimit, 50_000) >= 10_000
    assert sys.getrecursionlimit() == before


# --- the parser ------------------------------------------------------------------------------------------------------


def test_pieces_have_the_places_of_the_whole():
    text = "def f(x, ä):\n    return " + " + ".join(f"ä * x[{k}]" for k in range(400)) + "\n"
    tree = parse(text)
    assert len(tree.pieces) > 400 / LEVELS - 2
    shown = {text[a:b] for node, (a, b) in tree.places.items() if type(node).__name__ == "Subscript"}
    assert shown == {f"x[{k}]" for k in range(400)}


@pytest.mark.slow
def test_the_work_is_linear(made):
    """Four times the terms take at most six times as many calls: a quadratic pass takes sixteen times."""

    def calls(n):
        f = made("def f(x):\n    return " + " + ".join(f"x[{k % 3}] * {n + k}.5" for k in range(n)) + "\n")
        count = 0

        def note(*_):
            nonlocal count
            count += 1

        for install in (threading.setprofile, sys.setprofile):
            install(note)
        try:
            s2s.source(f, X)
        finally:
            for install in (sys.setprofile, threading.setprofile):
                install(None)
        return count

    calls(10)
    assert calls(200) < 6 * calls(50)
