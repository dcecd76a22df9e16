"""A process of its own for the cases: ``python -m tests.versions.changes.process FOLDER [changed]``. For each
case it compiles, or finds on disk, the gradient, after the change where that is asked for; prints it as JSON."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import s2s
from s2s.dispatch import lookup
from tests.versions.changes import POINT, all_cases, change, slope, started


def main() -> None:
    folder, is_changed = Path(sys.argv[1]), len(sys.argv) > 2
    compiled: list[str] = []
    run_compiler = lookup.run_compiler

    def counted(function, arguments, request):
        compiled.append(function.__name__)
        return run_compiler(function, arguments, request)

    lookup.run_compiler = counted
    warnings.simplefilter("ignore")
    found = {}
    for name, case in all_cases().items():
        place = folder / name
        place.mkdir(exist_ok=True)
        with started(name, case, place) as module:
            if is_changed:
                change(name, case, place, module)
            compiled.clear()
            value = float(np.sum(s2s.grad(module.f)(POINT)))
            found[name] = [value, None if case.by_rule else slope(module), bool(compiled)]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
