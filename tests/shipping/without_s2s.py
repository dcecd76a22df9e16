"""Runs modules where s2s cannot be imported: reads a list of (text, entry, arguments, what comes out) from standard
input, all but the first two pickled, and prints what is wrong."""

import pickle
import sys
import types
import warnings

import numpy as np


class NoS2s:
    """Finds everything but s2s."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "s2s":
            raise ModuleNotFoundError(f"no module named {name!r}")


def is_same(a, b):
    """Whether two gradients are the same, bit for bit."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if a is None or isinstance(a, (float, int, complex, np.ndarray, np.generic)):
        return type(a) is type(b) and np.array_equal(a, b, equal_nan=a is not None)
    return type(a).__name__ == type(b).__name__ and is_same(vars(a), vars(b))


def main():
    sys.meta_path.insert(0, NoS2s())
    warnings.simplefilter("ignore")
    for text, entry, arguments, expected in pickle.load(sys.stdin.buffer):
        module = types.ModuleType(f"alone_{entry}")
        sys.modules[module.__name__] = module
        try:
            exec(compile(text, entry, "exec"), module.__dict__)
            found = getattr(module, entry)(*pickle.loads(arguments))
            wrong = None if is_same(pickle.loads(expected), found) else f"{found!r}, not {pickle.loads(expected)!r}"
        except Exception as problem:
            wrong = f"{type(problem).__name__}: {problem}"
        if wrong is not None:
            sys.stderr.write(f"{entry}: {wrong}\n")


if __name__ == "__main__":
    main()
