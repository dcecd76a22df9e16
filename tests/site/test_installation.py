"""The page of the installation has the extras and the versions that pyproject.toml has."""

import re
import tomllib

from s2s.cli.doctor import EXTRAS
from tests.helpers import ROOT

PAGE = (ROOT / "docs" / "installation.md").read_text(encoding="utf-8")
LIMITS = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def floor(name, requirements):
    return next(r.removeprefix(f"{name}>=") for r in requirements if r.startswith(f"{name}>="))


def test_every_extra_has_a_row():
    rows = "".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `s2s-grad["))
    assert sorted(re.findall(r"\[(\w+)\]", rows)) == sorted(PROJECT["optional-dependencies"])


def test_the_versions_are_those_of_the_project():
    python = PROJECT["requires-python"].removeprefix(">=")
    numpy = floor("numpy", PROJECT["dependencies"])
    scipy = floor("scipy", PROJECT["optional-dependencies"]["scipy"]).removesuffix(".0")
    assert f"needs Python {python} or later and NumPy {numpy} or later" in PAGE
    assert f"Python {python} and later, NumPy {numpy} and later, SciPy {scipy} and later" in LIMITS


def test_the_doctor_looks_for_what_the_extras_of_users_bring():
    """Those that the page has a row of their own for, but for pictures."""
    table = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `s2s-grad[")]
    rows = [re.findall(r"\[(\w+)\]", cell) for cell in table]
    single = {row[0] for row in rows if len(row) == 1} - {"bench"}
    assert {extra for extra, _ in EXTRAS.values()} == single
    for package, (extra, _) in EXTRAS.items():
        assert any(r.startswith((f"{package}>", f"{package}[")) for r in PROJECT["optional-dependencies"][extra])
