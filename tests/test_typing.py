"""What type checkers know of derivatives: the parameters of the function, and what comes out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

PROGRAM = '''
import numpy as np
from numpy.typing import NDArray
import s2s

def loss(w: NDArray[np.float64], n: int = 3) -> float:
    return float(np.sum(w * w) * n)

def both(w: float) -> tuple[float, str]:
    return w * w, "done"

@s2s.differentiable
def decorated(w: float, *, scale: float = 1.0) -> float:
    return w * scale

reveal_type(s2s.grad(loss))                       # Derivative[[w: ndarray, n: int =], Any]
reveal_type(s2s.grad(loss, argnums=(0,))(np.ones(2)))  # tuple[Any, ...]
reveal_type(s2s.value_and_grad(loss)(np.ones(2), n=2))  # tuple[float, Any]
reveal_type(s2s.grad(both, has_aux=True)(1.0))    # tuple[Any, str]
reveal_type(s2s.grad(decorated)(1.0, scale=2.0))  # Any
reveal_type(s2s.vjp(loss, np.ones(2))[0])         # float
reveal_type(s2s.jvp(loss, (np.ones(2),), (np.ones(2),)))  # tuple[float, float]
reveal_type(s2s.elementwise_grad(decorated)(1.0)) # float
reveal_type(s2s.value_and_jacobian(loss)(np.ones(2)))  # tuple[float, Any]
reveal_type(s2s.source(loss))                     # str
reveal_type(s2s.insert_in_reverse(print)(1.5))    # float
s2s.grad(loss)(np.ones(2), m=3)                   # error
s2s.grad(loss)()                                  # error
'''


def test_mypy_knows_what_derivatives_take_and_give(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    command = [
        sys.executable, "-m", "mypy", "--no-error-summary", "--config-file", str(tmp_path / "mypy.ini"),
        "--cache-dir", str(tmp_path / "cache"), str(file),
    ]
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\nignore_missing_imports = True\n")
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300).stdout
    lines = re.findall(r"program\.py:(\d+): (?:note|error): (.*)", shown)
    told = {int(line): text for line, text in reversed(lines)}  # what comes after the first explains it
    for number, line in enumerate(PROGRAM.splitlines(), 1):
        code, _, expected = line.partition("#")
        if not expected:
            assert number not in told, told[number]
            continue
        text = re.sub(r"builtins\.|numpy\.|s2s\.derivatives\.|typing\.", "", told[number])
        text = re.sub(r"ndarray\[.*?\]\]", "ndarray", text)
        if expected.strip() == "error":
            assert "argument" in text, text
        else:
            assert text == f'Revealed type is "{expected.strip()}"', code


def test_help_and_getsource():
    """The names of arguments, a signature, and the code that runs."""
    import inspect
    import pydoc

    import s2s

    def loss(w, x, *, scale=2.0):
        """The loss."""
        return w * x * scale

    gradient = s2s.grad(loss, argnums=(0, "x"))
    assert str(inspect.signature(gradient)) == "(w, x, *, scale=2.0)"
    shown = pydoc.render_doc(gradient, renderer=pydoc.plaintext)
    if sys.version_info < (3, 13):  # later ones show the signature of functions and classes only
        assert "loss_grad(w, x, *, scale=2.0)" in shown
    assert "Gradient of loss with respect to w, x.\n" in shown and "The loss." in shown
    with pytest.raises(TypeError):
        inspect.getsource(gradient)  # nothing is compiled
    gradient(2.0, 3.0)
    assert "w_bar = " in inspect.getsource(gradient)
    assert inspect.getsource(gradient).strip() in gradient.source
    assert "return w * x * scale" in inspect.getsource(s2s.differentiable(loss))
