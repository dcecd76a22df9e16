"""The examples of this folder go in, docs/questions.md comes out: question, answer, code and generated source.

    python examples/questions/page.py > docs/questions.md

An example has the question and the answer in its docstring, and a function ``sources()`` that gives the generated
source to show. What it finds out is asserted in its ``main()``, which the tests run.
"""

import importlib
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

ORDER = (
    "where_and_conditionals", "table_filled_in_loops", "gradient_stopped_for_a_part", "frozen_under_adam",
    "scipy_optimizers", "shifted_point", "hessian_norm", "integers_in_a_network", "gradient_overridden",
    "custom_gradient", "implicit_solver", "softmax_regression", "convolutional_network", "batch_normalization",
    "unconnected_inputs",
)

HEAD = """\
# Questions

Questions that people ask about gradients of programs, each with an answer that runs: the examples are scripts in
`examples/questions`, which the tests run, and the generated source is what s2s writes for them. This page is made from
them by `examples/questions/page.py`.
"""


def examples():
    """The names of the examples, in the order of the page."""
    found = {file.stem for file in HERE.glob("*.py")} - {"page"}
    assert found == set(ORDER), f"ORDER has not these: {found ^ set(ORDER)}"
    return ORDER


def page():
    return "\n".join([HEAD, *map(chapter, examples())])


def chapter(name):
    text = (HERE / f"{name}.py").read_text(encoding="utf-8")
    _, docstring, code = text.split('"""', 2)
    question, _, answer = docstring.partition("\n\n")
    sources = [f"```python\n{without_paths(source).strip()}\n```\n" for source in module(name).sources()]
    return "\n".join(
        [
            f"## {question}\n", answer, f"`examples/questions/{name}.py`:\n",
            f"```python\n{without_call(code).strip()}\n```\n", "What s2s generates:\n", *sources,
        ]
    )


def module(name):
    """An example, imported as a script in its folder would import it."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module(name)


def without_call(code):
    """The code without the lines that make a script of it."""
    return re.sub(r'\n\nif __name__ == "__main__":\n    .*\n', "", code)


def without_paths(source):
    """Generated source names the file of the function: shown by its last part only."""
    return re.sub(rf"[^\s(\"']*{re.escape(os.sep)}(?=\w+\.py)", "", source)


if __name__ == "__main__":
    print(page(), end="")
