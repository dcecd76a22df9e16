"""s2s: differentiate Python functions by writing their derivative as Python source.

@s2s.differentiable
def loss(w, x, y): ...

s2s.grad(loss)(w, x, y)          the gradient
s2s.value_and_grad(loss)         value and gradient
s2s.vjp(loss, w, x, y)           value and pullback, for results that are no single number
s2s.source(loss, w, x, y)        the generated code
"""

from s2s import errors
from s2s.api import Derivative, Differentiable, differentiable, grad, source, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = [
    "Derivative",
    "Differentiable",
    "__version__",
    "differentiable",
    "errors",
    "grad",
    "source",
    "value_and_grad",
    "vjp",
]
