"""What s2s costs before a gradient runs: compiling, the disk cache, importing. Prints a table with limits.

    python benchmarks/compile_cost.py [--repeat N] [--package FOLDER] [--only WORD ...]

The first table is of one process, in processor time, for programs that have been slow: each is compiled several times,
from a new file each time, after another function has been compiled; what a first derivative imports or builds once for
all is not in it. Those of the second table are made in several new processes. The smallest counts: other work on the
machine only adds. ``--package`` is another checkout to measure, for a comparison in turns. Ends with an error where a
limit is exceeded.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A function of 30 lines: a damped, driven pendulum with a controller, and what its motion costs.
FUNCTION = '''\
import numpy as np


def pendulum(gains, angle, steps):
    speed = 0.0
    effort = 0.0
    total = 0.0
    memory = 0.0
    dt = 0.02
    mass = 1.0 + 0.1 * np.tanh(gains[3])
    for k in range(steps):
        time = k * dt
        target = 0.5 * np.sin(0.7 * time)
        error = angle - target
        memory = 0.95 * memory + error * dt
        control = -gains[0] * error - gains[1] * speed
        control = control - gains[2] * memory
        if control > 4.0:
            control = 4.0
        elif control < -4.0:
            control = -4.0
        drag = 0.1 * speed * abs(speed)
        force = control - np.sin(angle) * mass - drag
        speed = speed + dt * force / mass
        angle = angle + dt * speed
        effort = effort + control**2
        total = total + error**2 + 0.01 * speed**2
        if total > 1e6:
            break
    penalty = np.sum(gains**2) * 1e-3
    mean = (total + 1e-3 * effort) / max(steps, 1)
    scale = np.sqrt(1.0 + mean * mean)
    return scale + penalty
'''

def nest(depth):
    """Loops in one another, each with an array of its own that it fills."""
    lines = ["import numpy as np", "", "", "def f(x, n):"]
    for k in range(depth):
        indent = "    " * (k + 1)
        lines += [f"{indent}a{k} = np.zeros(3)", f"{indent}for i{k} in range(n):"]
    lines.append("    " * (depth + 1) + f"a{depth - 1}[i0] += np.sin(x[i{depth - 1}])")
    lines += ["    " * (k + 1) + f"a{k - 1}[i{k - 1}] += a{k}[i0] * x[0]" for k in range(depth - 1, 0, -1)]
    return "\n".join([*lines, "    return np.sum(a0 * a0)", ""])


def straight(count):
    """As many statements in a row."""
    forms = ["np.sin({0}) * {1}", "{0} + 0.5 * {1}", "np.exp(-{0} * {0})", "{0} * {1} - {1}", "np.tanh({0} + {1})"]
    lines, names = ["import numpy as np", "", "", "def f(x, y):"], ["x", "y"]
    for k in range(count):
        lines.append(f"    v{k} = {forms[k % 5].format(names[-1], names[max(-len(names), -2 if k % 3 else -7)])}")
        names.append(f"v{k}")
    return "\n".join([*lines, f"    return np.sum(v{count - 1})", ""])


def arms(count):
    """An ``elif`` for each number."""
    lines = ["import numpy as np", "", "", "def f(x):", "    if x < 0.0:", "        y = x"]
    for k in range(1, count):
        lines += [f"    elif x < {k}.0:", f"        y = np.sin(x) * {k}.0"]
    return "\n".join([*lines, "    else:", "        y = x * x", "    return y * y", ""])


def returns(count):
    """A return for each number."""
    lines = ["import numpy as np", "", "", "def f(x):"]
    for k in range(count):
        lines += [f"    if x < {k}.0:", f"        return np.sin(x) * {k}.0"]
    return "\n".join([*lines, "    return x * x", ""])


FIVE = """\
import numpy as np


def f(x, w):
    y = np.sin(x) * w
    z = np.exp(-y * y)
    u = z @ x
    return np.sum(z) + u
"""

DENSITIES = """\
import numpy as np
import scipy.stats as st


def f(p, y):
    first = np.sum(st.norm.logpdf(y, p[0], np.exp(p[1])))
    second = np.sum(st.gamma.logpdf(y * y + 0.1, np.exp(p[2]), scale=np.exp(p[3])))
    third = np.sum(st.t.logpdf(y, np.exp(p[4]) + 1.0, p[0], np.exp(p[1])))
    return first + second + third
"""

PRODUCT = """\
import numpy as np


def f(x):
    t = np.zeros_like(x) + x * x
    return np.sum(np.einsum("abcdef,abghij->cdefghij", t, x))
"""

NORM = """\
import numpy as np


def f(x):
    return np.linalg.norm(x, ord=3)
"""

MODES = ("jacfwd", "jacrev")

_VECTOR = "np.array([0.3, -0.4, 0.9])"

PROGRAMS = {
    "5 lines": (FIVE, "s2s.grad(f)", f"({_VECTOR}, {_VECTOR})", 8.0),
    "pendulum, 30 lines": (FUNCTION.replace("def pendulum", "def f"), "s2s.grad(f)", "(np.ones(4), 0.3, 2)", 35.0),
    "three log-densities of scipy.stats": (DENSITIES, "s2s.grad(f)", f"(np.full(5, 0.1), {_VECTOR})", 60.0),
    "300 lines in a row": (straight(300), "s2s.grad(f)", f"({_VECTOR}, {_VECTOR})", 250.0),
    **{
        f"{depth} nested loops, each with an array": (nest(depth), "s2s.grad(f)", f"({_VECTOR}, 1)", 100.0)
        for depth in range(5, 10)
    },
    **{
        f"{outer} of {inner} of a norm": (NORM, f"s2s.{outer}(s2s.{inner}(f))", f"({_VECTOR},)", 150.0)
        for outer in MODES for inner in MODES
    },
    "hessian of a norm": (NORM, "s2s.hessian(f)", f"({_VECTOR},)", 150.0),
    "product of arrays of six dimensions": (PRODUCT, "s2s.grad(f)", "(np.full((2,) * 6, 0.5),)", 500.0),
    "100 arms of elif": (arms(100), "s2s.grad(f)", "(0.5,)", None),
    "100 early returns": (returns(100), "s2s.grad(f)", "(0.5,)", None),
}
"""By name: the source of ``f``, its derivative, the arguments, and the limit in milliseconds."""

IN_ONE_PROCESS = """
import gc, json, pathlib, runpy, sys, time
import numpy as np, s2s
from warm_up import square
s2s.grad(square)(2.0)
programs, repeat, folder, found = json.loads(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]), {}
for number, (name, (text, derivative, arguments, _)) in enumerate(programs.items()):
    times, begun = [], time.process_time()
    for turn in range(repeat):
        if times and time.process_time() - begun > 10.0:
            break
        file = folder / f"program_{number}_{turn}.py"
        body = text.split("\\n\\n\\n")  # code of other places in the file is other code
        file.write_text(("\\n" * (turn + 3)).join(body), encoding="utf-8")
        f = runpy.run_path(str(file))["f"]
        made, given = eval(derivative), eval(arguments)
        gc.collect()
        start = time.process_time()
        made(*given)
        spent = time.process_time() - start
        start = time.process_time()
        made(*given)
        times.append(1e3 * (spent - (time.process_time() - start)))
    found[name] = min(times)
print(json.dumps(found))
"""

CALL = """
import numpy as np, s2s, time
{imports}
from pendulum import pendulum
gains = np.array([3.0, 1.0, 0.5, 0.2])
start = time.perf_counter()
gradient = s2s.grad(pendulum)
before = 1e3 * (time.perf_counter() - start)
start = time.perf_counter()
gradient(gains, 0.3, 2)
milliseconds = 1e3 * (time.perf_counter() - start)
start = time.perf_counter()
gradient(gains, 0.3, 2)
milliseconds -= 1e3 * (time.perf_counter() - start)
"""

# The same with the part of s2s in it that comes in when the first derivative is asked for.
WITH_FRONT_END = "milliseconds += before"

# Importing the compiler is not compiling: a first function brings in whatever is imported late.
WARM_UP = """
from warm_up import square
s2s.grad(square)(2.0)
"""

SQUARE = '''\
def square(x):
    return x * x
'''

IMPORT = """
import time
import numpy
start = time.perf_counter()
import s2s
milliseconds = 1e3 * (time.perf_counter() - start)
"""

REPORT = """
import json, sys
print(json.dumps([milliseconds, sorted({"libcst", "astor"} & set(sys.modules))]))
"""


def run(code, folder, package, *given, **environment):
    """What code reports from a new process."""
    done = subprocess.run(
        [sys.executable, "-c", code, *given],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), str(package)]),
            "PYTHONDONTWRITEBYTECODE": "",  # as s2s runs where it is installed: from compiled files
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            **environment,
        },
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="how often each is measured")
    parser.add_argument("--package", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--only", nargs="*", help="words of the names of the programs to measure, and no processes")
    options = parser.parse_args()
    repeat, package = options.repeat, options.package.resolve()
    programs = {
        name: program for name, program in PROGRAMS.items() if not options.only or any(w in name for w in options.only)
    }

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pendulum.py").write_text(FUNCTION, encoding="utf-8")
        (folder / "warm_up.py").write_text(SQUARE, encoding="utf-8")
        given = json.dumps(programs), str(repeat), str(folder)
        spent = run(IN_ONE_PROCESS, folder, package, *given, S2S_CACHE="0")
        rows = [(label, spent[label], limit) for label, (*_, limit) in programs.items()]
        slow = table("processor time in one process", rows)
        if options.only:
            sys.exit(bool(slow))

        def times(code, **environment):
            found = [run(code + REPORT, folder, package, **environment) for _ in range(repeat)]
            return min(t for t, _ in found), {module for _, modules in found for module in modules}

        cache = {"S2S_CACHE": "1", "S2S_CACHE_DIR": str(folder / "cache")}
        cold, _ = times(CALL.format(imports=WARM_UP), S2S_CACHE="0")
        for _ in range(2):  # fills the cache, then compiles what a hit imports
            run(CALL.format(imports="") + REPORT, folder, package, **cache)
        hit, heavy = times(CALL.format(imports=""), **cache)
        first, _ = times(CALL.format(imports="") + WITH_FRONT_END, **cache)
        gradient, _ = times(CALL.format(imports="") + WITH_FRONT_END, S2S_CACHE="0")
        imported, _ = times(IMPORT)

    rows = [
        ("compile a function of 30 lines, no cache", cold, 60.0),
        ("the same from the disk cache", hit, 3.0),
        ("with making the derivative, the first of all", first, None),
        ("the first gradient of a process, no cache", gradient, None),
        ("import s2s, after import numpy", imported, 50.0),
    ]
    print()
    slow += table("in new processes", rows)
    print("a hit on disk imports " + (" and ".join(sorted(heavy)) if heavy else "neither libcst nor astor"))
    sys.exit(bool(heavy or slow))


def table(title, rows):
    """Print measurements and their limits; give the names of those over the limit."""
    print(f"{title:<46}{'ms':>9}{'limit':>8}")
    for label, milliseconds, limit in rows:
        over = limit is not None and milliseconds > limit
        print(f"{label:<46}{milliseconds:>9.2f}{'' if limit is None else format(limit, '8.0f')}{'   too slow' * over}")
    return [label for label, milliseconds, limit in rows if limit is not None and milliseconds > limit]


if __name__ == "__main__":
    main()
