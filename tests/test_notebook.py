"""What notebooks show: functions, derivatives, refusals and results as HTML, and the magics."""

import re
import sys

import numpy as np
import pytest

import s2s


def text_of(shown):
    import html

    return html.unescape(re.sub(r"<[^>]*>", "", shown))


@s2s.differentiable
def loss(w, x):
    y = w * x
    return np.sum(np.sin(y))


def test_a_decorated_function_shows_its_source_and_its_derivatives():
    fresh = s2s.differentiable(loss.func)
    assert "nothing compiled yet" in fresh._repr_html_()
    gradient = s2s.grad(fresh)
    assert "nothing compiled yet" in gradient._repr_html_()
    gradient(np.ones(2), np.ones(2))
    for shown in (fresh._repr_html_(), gradient._repr_html_()):
        assert "w_bar = " in text_of(shown) and "(f8[:], f8[:])" in shown and "test_notebook.py" in shown
    assert "y = w * x" in text_of(fresh._repr_html_())


def test_a_refusal_is_shown_as_it_is_printed():
    def g(x):
        yield x

    with pytest.raises(s2s.errors.DifferentiationError) as info:
        s2s.grad(g)(1.0)
    printed = "\n".join([f"{type(info.value).__name__}: {info.value}", *info.value.__notes__])
    assert text_of(info.value._repr_html_()).strip() == printed.strip()


def test_a_result_is_shown_with_its_history():
    found = s2s.optim.SGD(0.1).minimize(lambda p: np.sum((p - 1.0) ** 2), np.zeros(3), steps=10)
    shown = found._repr_html_()
    assert "<polyline" in shown and "after 10 steps" in shown
    points = re.search(r'points="([^"]*)"', shown)[1].split()
    heights = [float(point.split(",")[1]) for point in points]
    assert len(points) == 11 and heights == sorted(heights)  # downwards on the screen


# --- magics -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def run():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()

    def run(cell):
        with capture_output() as captured:
            result = shell.run_cell(cell)
        result.outputs = [output.data for output in captured.outputs]
        result.printed = captured.stdout
        return result

    run("%load_ext s2s\nimport numpy as np, s2s").raise_error()
    yield run
    InteractiveShell.clear_instance()
    sys.modules.pop("__main__.loss", None)


CELL = """
def helper(x):
    return 2.0 * x

def cost(w, x):
    y = helper(x) * w
    return np.sum(np.sin(y))
"""


def test_a_cell_is_differentiated(run):
    found = run("%%s2s --args 'w: f8[:], x: f8[:]'" + CELL)
    found.raise_error()
    (shown,) = found.outputs
    assert "w_bar = " in shown["text/plain"] and "<span" in shown["text/html"]
    gradient = run("cost_grad(np.array([1.0, 2.0]), np.array([0.5, 0.25]))").result
    np.testing.assert_allclose(gradient, [np.cos(1.0), 0.5 * np.cos(1.0)])


def test_the_lines_of_a_cell_open_to_those_of_the_derivative(run):
    found = run("%%s2s -a --args 'w: f8[:], x: f8[:]' -w w cost" + CELL)
    found.raise_error()
    (shown,) = found.outputs
    assert "w_bar = " in shown["text/plain"]
    opened = re.findall(r"<details><summary.*?>(.*?)</summary>(.*?)</details>", shown["text/html"])
    lines = {text_of(line).strip(): text_of(own) for line, own in opened}
    assert any(line.endswith("return np.sum(np.sin(y))") and own == "y_bar = np.cos(y)" for line, own in lines.items())


def test_a_line_shows_the_code_for_a_call(run):
    run(CELL).raise_error()
    text = run("%s2s cost(np.ones(2), x=np.ones(2))").result
    assert text == run("s2s.source(cost, np.ones(2), x=np.ones(2))").result
    assert "w_dot" in run("%s2s --mode jvp cost(np.ones(2), np.ones(2))").result
    assert "x_bar" in run("%s2s --wrt x cost(np.ones(2), np.ones(2))").result


def test_what_is_wrong_with_a_magic_is_told(run):
    for cell in ("%%s2s --unknown\nx = 1", "%%s2s\nx = 1", "%s2s -m nothing cost(1.0)", "%s2s def"):
        problem = run(cell).error_in_exec
        assert type(problem).__name__ == "UsageError", (cell, problem)


def test_a_traceback_has_no_frames_of_dispatchers(run):
    result = run("def h(x):\n    return np.log(x)\nwith s2s.debug_nans():\n    s2s.grad(h)(0.0)")
    assert type(result.error_in_exec).__name__ == "NonFiniteError"
    assert "s2s.grad(h)" in re.sub(r"\x1b\[[\d;]*m", "", result.printed) and "S2S547" in result.printed
    assert "s2s dispatch" not in result.printed


def test_places_in_cells_are_called_as_the_notebook_calls_them(run):
    run("def g(x):\n    yield x").raise_error()
    result = run("try:\n    s2s.grad(g)(1.0)\nexcept Exception as e:\n    text = f'{e} {e.__cause__}'\ntext")
    assert re.search(r" --> Cell In\[\d+\]:2:5 in `g`", result.result)


def test_an_error_of_the_program_and_a_derivative_name_the_cell(run):
    result = run("def h(x):\n    return np.sum(x[9] * x)\ns2s.grad(h)(np.ones(3))")
    assert re.search(r"which comes from\n  Cell In\[\d+\], line 2\n    return np.sum", result.printed)
    assert "(cell:1). Generated by s2s" in run("s2s.source(h, np.ones(3))").result
