"""Validate the bank: ``python -m tests.bank.check``. Every case runs, is finite, and is smooth nearby."""

import contextlib
import io
import sys

from tests.bank import CASES
from tests.helpers import check_inputs


def main():
    bad = 0
    for case in CASES:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                check_inputs(case)
        except Exception as error:
            bad += 1
            print(f"{case.name}: {type(error).__name__}: {error}")
    functions = {id(case.f) for case in CASES}
    print(f"{len(functions)} functions, {len(CASES)} cases, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
