"""Functions whose annotations hold names that are imported for type checkers only."""

import importlib.util
import inspect
import sys

import numpy as np
import pytest

import s2s
from s2s.cli.main import main
from s2s.core.annotated import annotations_of, signature_of

click_testing = pytest.importorskip("click.testing")

PROGRAM = '''
from typing import TYPE_CHECKING

import numpy as np
import s2s

if TYPE_CHECKING:
    from numpy.typing import NDArray

def loss(x: "f8[3]", w: NDArray[np.float64], n: int = 2) -> NDArray:
    return np.sum(x ** n * w)

@s2s.custom_gradient
def cube(x: NDArray) -> NDArray:
    return x ** 3, lambda dy: 3 * x ** 2 * dy
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "annotated_model.py"
    first = "" if sys.version_info >= (3, 14) else "from __future__ import annotations\n"
    path.write_text(first + PROGRAM)
    return path


@pytest.fixture
def module(file):
    spec = importlib.util.spec_from_file_location("annotated_model", file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_signature_and_annotations(module):
    assert [*signature_of(module.loss).parameters] == ["x", "w", "n"]
    assert signature_of(module.loss).parameters["n"].default == 2
    found = annotations_of(module.loss)
    assert found["x"].strip("'\"") == "f8[3]"
    assert found["w"] == "NDArray[np.float64]"
    assert signature_of(np.sort) == inspect.signature(np.sort)


def test_gradient(module):
    x, w = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    assert np.allclose(s2s.grad(module.loss)(x, w), 2 * x * w)
    assert np.allclose(s2s.jvp(module.loss, (x, w), (w, x))[1], np.sum(2 * x * w * w + x**2 * x))
    assert s2s.grad(lambda x: np.sum(module.cube(x)))(x) == pytest.approx(3 * x**2)
    assert "def loss_grad(x, w, n=2)" in s2s.source(module.loss)
    assert "n * x ** " in s2s.source(module.loss, kinds="x: f8[3], w: f8[3], n: int")


def test_command_line(file):
    for command in (["dump"], ["explain"], ["check", "--args", "x: f8[3], w: f8[3]"]):
        got = click_testing.CliRunner().invoke(main, [command[0], f"{file}:loss", *command[1:]])
        assert got.exit_code == 0, got.output
        assert "NameError" not in got.output
