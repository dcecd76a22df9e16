"""What stays in memory of functions that are compiled and thrown away.

    python -m tests.stress.growth [--functions 400]

Each function has a name and variables of its own; its gradient and its tangent are taken, then it goes. After a first
quarter the tables of s2s and ``linecache`` are counted, and again at the end. Ends with an error where one of them,
other than those of a fixed size, has grown with the number of functions.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import sys
import weakref

import numpy as np

import s2s
from s2s.core import ir
from s2s.core.bounded import Recent

TABLES = (dict, list, set, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)

TEXT = """
def fun_{k}(x_{k}, n):
    total_{k} = 0.0
    for k_{k} in range(n):
        total_{k} += np.sum(x_{k} ** {k})
    return total_{k}
"""


def use(number: int) -> None:
    text, file = TEXT.format(k=number), f"<growth {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"np": np, "__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    f, x = scope[f"fun_{number}"], np.array([1.0, 1.1])
    assert np.allclose(s2s.grad(f)(x, 2), 2 * number * x ** (number - 1))
    assert np.isclose(s2s.jvp(f, (x, 2), (np.ones(2), None))[1], np.sum(2 * number * x ** (number - 1)))
    del linecache.cache[file]


def sizes() -> dict[str, int]:
    """The number of entries of every table in a module of s2s."""
    found = {"linecache": len(linecache.cache)}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "s2s":
            for key, value in list(vars(module).items()):
                if isinstance(value, Recent) or value is ir._VARS:
                    continue  # of a fixed size
                if isinstance(value, TABLES):
                    found[f"{name}.{key}"] = len(value)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=400)
    options = parser.parse_args()
    quarter = options.functions // 4
    for number in range(1, quarter):
        use(number)
    gc.collect()
    before, memory = sizes(), resident()
    for number in range(quarter, options.functions):
        use(number)
    gc.collect()
    grown = {name: size for name, size in sizes().items() if size > before.get(name, 0) + quarter // 4}
    for name, size in grown.items():
        print(f"{name}: {before.get(name, 0)} entries, then {size}")
    print(f"{options.functions} functions: {len(grown)} tables grew with them; "
          f"{memory:.0f} MB after {quarter}, {resident():.0f} MB at the end")
    return 1 if grown else 0


def resident() -> float:
    """The memory of this process in MB; nan where the system does not say."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[1]) * 4096 / 1e6
    except OSError:
        return float("nan")


if __name__ == "__main__":
    sys.exit(main())
