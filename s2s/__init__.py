"""s2s: differentiate Python functions by writing their derivative as Python source.

@s2s.differentiable
def loss(w, x, y): ...

s2s.grad(loss)(w, x, y)          the gradient
s2s.value_and_grad(loss)         value and gradient
s2s.vjp(loss, w, x, y)           value and pullback, for results that are no single number
s2s.jvp(f, (x,), (x_dot,))       value and tangent, by forward mode
s2s.source(loss, w, x, y)        the generated code
s2s.functions("linalg")          the functions that have derivative rules
"""

from typing import TYPE_CHECKING, Any

from s2s.api import Differentiable, differentiable, grad, jvp, source, value_and_grad, vjp

if TYPE_CHECKING:
    from s2s import errors
    from s2s.derivatives import Derivative
    from s2s.listing import functions

__version__ = "0.1.0"

__all__ = [
    "Derivative",
    "Differentiable",
    "__version__",
    "differentiable",
    "errors",
    "functions",
    "grad",
    "jvp",
    "source",
    "value_and_grad",
    "vjp",
]


def __getattr__(name: str) -> Any:
    """Names that are imported when they are first asked for, so that ``import s2s`` is quick."""
    if name == "errors":
        import importlib

        return importlib.import_module("s2s.errors")
    if name == "Derivative":
        from s2s.derivatives import Derivative

        return Derivative
    if name == "functions":
        from s2s.listing import functions

        return functions
    raise AttributeError(f"module 's2s' has no attribute {name!r}")
