"""What s2s costs before a gradient runs: compiling, the disk cache, importing. Prints a table with limits.

    python benchmarks/compile_cost.py [--repeat N]

Every measurement is made in several new processes, and the smallest counts: other work on the machine only
adds. Ends with an error where a limit is exceeded.
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


def run(code, folder, **environment):
    """Milliseconds, and which of the heavy modules were imported, as code reports them from a new process."""
    done = subprocess.run(
        [sys.executable, "-c", code + REPORT],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
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
    parser.add_argument("--repeat", type=int, default=5, help="processes per measurement")
    repeat = parser.parse_args().repeat

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = {"S2S_CACHE": "1", "S2S_CACHE_DIR": str(folder / "cache")}
        (folder / "pendulum.py").write_text(FUNCTION, encoding="utf-8")
        (folder / "warm_up.py").write_text(SQUARE, encoding="utf-8")

        cold = [run(CALL.format(imports=WARM_UP), folder, S2S_CACHE="0") for _ in range(repeat)]
        for _ in range(2):  # fills the cache, then compiles what a hit imports
            run(CALL.format(imports=""), folder, **cache)
        hit = [run(CALL.format(imports=""), folder, **cache) for _ in range(repeat)]
        first = [run(CALL.format(imports="") + WITH_FRONT_END, folder, **cache) for _ in range(repeat)]
        imported = [run(IMPORT, folder) for _ in range(repeat)]

    rows = [
        ("compile a function of 30 lines, no cache", min(t for t, _ in cold), 60.0),
        ("the same from the disk cache", min(t for t, _ in hit), 3.0),
        ("with making the derivative, the first of all", min(t for t, _ in first), None),
        ("import s2s, after import numpy", min(t for t, _ in imported), 50.0),
    ]
    print(f"{'':<46}{'ms':>8}{'limit':>8}")
    slow = []
    for label, milliseconds, limit in rows:
        if limit is None:
            print(f"{label:<46}{milliseconds:>8.2f}")
            continue
        slow += [label] * (milliseconds > limit)
        print(f"{label:<46}{milliseconds:>8.2f}{limit:>8.0f}{'   too slow' if milliseconds > limit else ''}")
    heavy = sorted({module for _, modules in hit for module in modules})
    print("a hit on disk imports " + (" and ".join(heavy) if heavy else "neither libcst nor astor"))
    sys.exit(bool(heavy or slow))


if __name__ == "__main__":
    main()
