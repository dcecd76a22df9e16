"""How long compiling takes for programs of growing size.

    python -m tests.stress.sizes [--only NAME ...] [--sizes 3] [--limit 120]

Each program is written with n, 2n and 4n parts; its gradient and its tangent are compiled and run once, in a process of
their own. Prints a table of processor seconds, and ends with an error where a derivative is wrong or does not come.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

X = np.array([0.7, 1.3, 0.45])


def _indented(lines: list[str], levels: int = 1) -> str:
    return "".join(f"{'    ' * levels}{line}\n" for line in lines)


def _body(*lines: str) -> str:
    return "def f(x):\n" + _indented(list(lines))


def sum_of_terms(n: int) -> str:
    return _body("return " + " + ".join(f"x[{k % 3}]" for k in range(n)))


def sum_of_products(n: int) -> str:
    return _body("return " + " + ".join(f"x[{k % 3}] * {k}.5" for k in range(n)))


def product(n: int) -> str:
    return _body("return " + " * ".join(f"(x[{k % 3}] + {k % 7 / 10})" for k in range(n)))


def chained_calls(n: int) -> str:
    return _body("return x" + ".copy()" * n + "[0] * x[1]")


def functions_in_functions(n: int) -> str:
    return _body("return " + "np.sin(" * n + "x[0]" + ")" * n)


def array_terms(n: int) -> str:
    return _body("y = " + " + ".join(f"x * {k}.5" for k in range(n)), "return np.sum(y * y)")


def many_arguments(n: int) -> str:
    names = ", ".join(f"a{k}" for k in range(n))
    total = " + ".join(f"a{k} * a{k}" for k in range(n))
    given = ", ".join(f"x[{k % 3}]" for k in range(n))
    return f"def g({names}):\n    return {total}\n\n\n" + _body(f"return g({given})")


def dict_display(n: int) -> str:
    entries = ", ".join(f"'k{k}': x[{k % 3}] * {k}.0" for k in range(n))
    return _body(f"d = {{{entries}}}", f"return sum(d.values()) * d['k{n // 2}']")


def dict_of_data(n: int) -> str:
    return "DATA = {f'k{k}': 0.5 * k for k in range(" + str(n) + ")}\n\n\n" + _body(
        "s = 0.0", f"for k in range({n}):", "    s = s + DATA['k%d' % k] * x[0]", f"return s * DATA['k{n // 2}']"
    )


def dict_of_data_display(n: int) -> str:
    entries = ", ".join(f"'k{k}': {k}.5" for k in range(n))
    return _body(f"d = {{{entries}}}", f"return x[0] * d['k{n // 2}'] * sum(d.values())")


def dict_stores(n: int) -> str:
    stores = [f"d['k{k}'] = x[{k % 3}] * {k}.0" for k in range(n)]
    return _body("d = {}", *stores, f"return sum(d.values()) * d['k{n // 2}']")


def list_display(n: int) -> str:
    return _body("v = [" + ", ".join(f"x[{k % 3}] * {k}.0" for k in range(n)) + "]", f"return sum(v) * v[{n // 2}]")


def list_of_zeros(n: int) -> str:
    return _body(
        f"v = [0.0] * {n}", "v[1] = x[0]", "v[2] = x[1] * v[1]", f"for k in range(3, {n}):",
        "    v[k] = v[k - 1] * 0.5 + x[2]", f"return v[2] + v[{n - 1}]",
    )


def list_of_zeros_few_stores(n: int) -> str:
    return _body(f"v = [0.0] * {n}", "v[1] = x[0]", "v[2] = x[1] * v[1]", "return v[2] + sum(v)")


def appends(n: int) -> str:
    return _body("v = []", *(f"v.append(x[{k % 3}] * {k}.0)" for k in range(n)), f"return sum(v) * v[{n // 2}]")


def statements(n: int) -> str:
    return _body("a, b, c = x", *(f"{'abc'[k % 3]} = {'abc'[(k + 1) % 3]} * 0.5 + np.sin({'abc'[k % 3]})"
                                   for k in range(n)), "return a * b * c")


def assignments(n: int) -> str:
    return _body("v0 = x[0]", *(f"v{k + 1} = v{k} * 0.99 + x[{k % 3}] * 0.01" for k in range(n)), f"return v{n}")


def array_stores(n: int) -> str:
    return _body("y = np.zeros(3)", *(f"y[{k % 3}] = y[{(k + 1) % 3}] * 0.5 + x[{k % 3}]" for k in range(n)),
                 "return np.sum(y)")


def augmented(n: int) -> str:
    return _body("y = x.copy()", *(f"y *= {1 + 1 / (k + 9)}" for k in range(n)), "return np.sum(np.tanh(y))")


def elif_arms(n: int) -> str:
    arms = [line for k in range(n)
            for line in (f"{'el' * (k > 0)}if x[0] > {n - k}.0:", f"    y = x[1] * {k}.0")]
    return _body(*arms, "else:", "    y = x[2] * x[0]", "return y * y")


def branches(n: int) -> str:
    blocks = [line for k in range(n) for line in (f"if y > {k % 5 / 3}:", f"    y = y * 0.9 + x[{k % 3}]")]
    return _body("y = x[0]", *blocks, "return y * y")


def early_returns(n: int) -> str:
    returns = [line for k in range(n)
               for line in (f"if x[0] > {k + 1}.0:", f"    return y * {k}.0", "y = y * 1.001")]
    return _body("y = x[0]", *returns, "return y")


def nested_ifs(n: int) -> str:
    n = min(n, 90)
    tests = [f"{'    ' * k}if x[0] > -{k}.5:" for k in range(n)]
    return _body("y = x[0]", *tests, f"{'    ' * n}y = y * x[1]", "return y")


def choices(n: int) -> str:
    return _body("y = x[0]", f"return {'x[1] if y > 9.0 else ' * n}y * x[2]")


def parentheses(n: int) -> str:
    n = min(n, 180)
    return _body("return " + "(" * n + "x[0]" + " * 1.01)" * n)


def nested_lists(n: int) -> str:
    n = min(n, 90)
    return _body("return " + "[" * n + "x[0]" + "]" * n + "[0]" * n)


def container_in_container(n: int) -> str:
    return _body("v = [x[0] * x[1]]", *["v = [v, x[2]]"] * n, *["v = v[0]"] * n, "return v[0]")


def calls_in_calls(n: int) -> str:
    chain = "".join(f"def g{k}(y):\n    return g{k + 1}(y) * 1.01\n\n\n" for k in range(n))
    return f"{chain}def g{n}(y):\n    return y * y\n\n\n" + _body("return g0(x[0])")


def nested_functions(n: int) -> str:
    n = min(n, 90)
    return _body(*(f"{'    ' * k}def g{k}(y):" for k in range(n)), f"{'    ' * n}return y * y",
                 *(f"{'    ' * k}return g{k}(y * 1.01)" for k in range(n - 1, 0, -1)), "return g0(x[0])")


def lambda_chain(n: int) -> str:
    return _body("g = lambda y: y * y", f"for k in range({n}):", "    g = (lambda h: lambda y: h(y) * 1.01)(g)",
                 "return g(x[0])")


def recursion(n: int) -> str:
    power = "def power(y, n):\n    return y if n == 0 else power(y * 1.0001, n - 1)\n\n\n"
    return power + _body(f"return power(x[0], {n})")


def recursion_of_the_run(n: int) -> str:
    return f"def until(y):\n    if y > {n}.0:\n        return y * y\n    return until(y + 1.0) * 0.9999\n\n\n" + _body(
        "return until(x[0])")


def calls(n: int) -> str:
    lines = [f"y = g(y, 1.{k + 1})" for k in range(n)]
    return "def g(y, k):\n    return np.sin(y) * k\n\n\n" + _body("y = x[0]", *lines, "return y")


PROGRAMS = {
    sum_of_terms: 1250, sum_of_products: 1250, product: 1250, chained_calls: 1250, functions_in_functions: 1250,
    array_terms: 500, many_arguments: 250, dict_display: 2500, dict_of_data: 2500, dict_of_data_display: 2500,
    dict_stores: 2500, list_display: 2500, list_of_zeros: 5000,
    list_of_zeros_few_stores: 5000, appends: 2500, statements: 2500, assignments: 2500, array_stores: 2500,
    augmented: 1000, elif_arms: 250, branches: 250, early_returns: 250,
    nested_ifs: 22, choices: 250, parentheses: 45, nested_lists: 22, container_in_container: 50, calls_in_calls: 50,
    nested_functions: 22, lambda_chain: 50, recursion: 200, recursion_of_the_run: 200, calls: 500,
}
"""The programs, and how many parts the smallest of each has."""


def measure(text: str, path: pathlib.Path) -> None:
    """Compile and run both derivatives of a program: prints two times, or what went wrong."""
    import s2s

    sys.setrecursionlimit(100_000)  # Python itself takes five thousand terms with a higher limit only
    path.write_text(text)
    scope = {"np": np, "__name__": "program"}
    exec(compile(text, str(path), "exec"), scope)
    f = scope["f"]
    s2s.grad(lambda x: np.sum(x * x))(X), s2s.jvp(lambda x: np.sum(x * x), (X,), (X,))
    v = np.array([0.3, -0.2, 0.5])
    expected = (f(X + 1e-6 * v) - f(X - 1e-6 * v)) / 2e-6
    begin = time.process_time()
    reverse = s2s.grad(f)(X) @ v
    middle = time.process_time()
    forward = s2s.jvp(f, (X,), (v,))[1]
    end = time.process_time()
    scale = max(1.0, abs(expected), abs(float(f(X))))
    if not np.allclose(reverse, forward, rtol=1e-8, atol=1e-12 * scale) or abs(reverse - expected) > 1e-5 * scale:
        print(f"wrong: {reverse} {forward} {expected}")
    else:
        print(f"{middle - begin:.2f} {end - middle:.2f}")


def _in_thread(work: object) -> None:
    """On a large stack: that of the main thread is not for programs so deep."""
    import threading

    threading.stack_size(512 << 20)
    thread = threading.Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    thread.join()


def outcome(name: str, n: int, limit: float) -> tuple[str, ...]:
    """The two times of one program, or what went wrong in their place."""
    command = [sys.executable, "-m", "tests.stress.sizes", "--one", name, str(n)]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return (f"> {limit:g}", "")
    words = found.stdout.split()
    if found.returncode == 0 and len(words) == 2:
        return tuple(words)
    return ((found.stdout.strip() or (found.stderr.strip().splitlines() or ["?"])[-1])[:90], "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sizes", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--divide", type=int, default=1, help="write programs that are smaller by this factor")
    parser.add_argument("--one", nargs=2)
    options = parser.parse_args()
    programs = {program.__name__: (program, n) for program, n in PROGRAMS.items()}
    if options.one:
        with tempfile.TemporaryDirectory() as folder:
            text = programs[options.one[0]][0](int(options.one[1]))
            _in_thread(lambda: measure(text, pathlib.Path(folder) / "program.py"))
        return 0
    failed = 0
    print("| program | parts | reverse | forward |\n|---|---|---|---|")
    for name in options.only or programs:
        columns: list[list[str]] = [[], [], []]
        for factor in [1, 2, 4][: options.sizes]:
            n = programs[name][1] * factor // options.divide
            reverse, forward = outcome(name, n, options.limit)
            failed += not forward
            for column, text in zip(columns, (str(n), reverse, forward), strict=True):
                column.append(text)
        print(f"| {name.replace('_', ' ')} | " + " | ".join(", ".join(c) for c in columns) + " |", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
