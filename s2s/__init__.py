"""s2s: differentiate Python functions by writing their derivative as Python source.

@s2s.differentiable
def loss(w, x, y): ...

s2s.grad(loss)(w, x, y)          the gradient
s2s.value_and_grad(loss)         value and gradient
s2s.vjp(loss, w, x, y)           value and pullback, for results that are no single number
s2s.jvp(f, (x,), (x_dot,))       value and tangent, by forward mode
s2s.jacobian(f), s2s.hessian(f)  all partial derivatives, first and second
s2s.hvp(f, (x,), (v,))           the product of the Hessian and a vector
s2s.njit_grad(f, "float64(float64[:])")  a gradient that code under numba.njit calls
s2s.map(f, (None, 0))            a function of one sample for many, with one loop
s2s.check_grads(f, (x,))         derivatives against differences
s2s.checkpoint(layer)            a function whose reverse computes again what it reads
s2s.checkpointed(range(n), 20)   a loop whose reverse keeps 20 states and computes the others again
s2s.optim.Adam(0.1)              optimizers: steps along the gradient, parts frozen
s2s.scipy.minimize(f, x0)        SciPy's optimisers, with the derivatives that they take
s2s.distributed.value_and_grad(f, over="X")  a loss over data in parts, on a cluster or from disk
s2s.interop.to_jax(f)            f with its derivative as a function of JAX; to_torch(f) of PyTorch
s2s.nonsmooth(floor="zero")      a block: what stands for derivatives at jumps
s2s.gradient_override({f: rule}) a block: another rule for a function
s2s.straight_through(f)          f, differentiated as if it gave its argument
s2s.insert_in_reverse(fn)(x)     x, whose cotangent goes through fn
s2s.debug_nans()                 a block: derivatives with a NaN raise, with the line where it arises
s2s.debug()                      a block: derivatives keep every variable, for breakpoint()
s2s.stop_gradient(x)             x, which derivatives take for a constant
s2s.source(loss, w, x, y)        the generated code
s2s.explore(loss, w, x, y)       a page that shows it beside the function, line by line
s2s.functions("linalg")          the functions that have derivative rules
"""

import sys
from typing import TYPE_CHECKING, Any

from s2s.core import public
from s2s.core.critical import section
from s2s.core.package import __version__

with section:
    from s2s.api import grad, jvp, source, value_and_grad, vjp
    from s2s.directives.decorated import Differentiable
    from s2s.directives.differentiable import differentiable

public.register("s2s.compiler")

if TYPE_CHECKING:
    from s2s import distributed, errors, interop, optim, scipy
    from s2s.batches import map
    from s2s.derivatives import Derivative
    from s2s.directives.checkpointing import checkpoint, checkpointed
    from s2s.directives.debugging import debug, debug_nans
    from s2s.directives.inserted import insert_in_reverse
    from s2s.directives.policies import gradient_override, nonsmooth, register_gradient, stop_gradient, straight_through
    from s2s.directives.user_rules import custom_gradient, defjvp, defvjp, partials
    from s2s.equations import implicit
    from s2s.explorer.page import explore
    from s2s.listing import functions
    from s2s.njit import njit_grad, njit_value_and_grad
    from s2s.notices import (
        CompileTimeWarning,
        DerivativeWarning,
        DynamicCallWarning,
        EditedAdjointWarning,
        NotFusedWarning,
        NumbaFallbackWarning,
        NumbaLeftOutWarning,
        RecompilationWarning,
        RecordedWarning,
        SearchWarning,
        SinglePrecisionWarning,
        SlowDerivativeWarning,
        StraightThroughWarning,
        TrainedOptionWarning,
        ZeroGradientWarning,
    )
    from s2s.sparse import jacobian_sparsity, sparse_hessian, sparse_jacobian
    from s2s.testing import check_grads
    from s2s.transforms import (
        elementwise_grad,
        hessian,
        hvp,
        jacfwd,
        jacobian,
        jacrev,
        linearize,
        value_and_jacobian,
        vhp,
    )

__all__ = [
    "CompileTimeWarning",
    "Derivative",
    "DerivativeWarning",
    "Differentiable",
    "DynamicCallWarning",
    "EditedAdjointWarning",
    "NumbaFallbackWarning",
    "NotFusedWarning",
    "NumbaLeftOutWarning",
    "RecompilationWarning",
    "RecordedWarning",
    "SearchWarning",
    "SinglePrecisionWarning",
    "SlowDerivativeWarning",
    "StraightThroughWarning",
    "TrainedOptionWarning",
    "ZeroGradientWarning",
    "__version__",
    "check_grads",
    "checkpoint",
    "checkpointed",
    "custom_gradient",
    "debug",
    "debug_nans",
    "defjvp",
    "defvjp",
    "differentiable",
    "distributed",
    "elementwise_grad",
    "errors",
    "explore",
    "functions",
    "grad",
    "gradient_override",
    "hessian",
    "hvp",
    "implicit",
    "interop",
    "insert_in_reverse",
    "jacfwd",
    "jacobian",
    "jacobian_sparsity",
    "jacrev",
    "jvp",
    "linearize",
    "map",
    "njit_grad",
    "njit_value_and_grad",
    "nonsmooth",
    "optim",
    "partials",
    "register_gradient",
    "scipy",
    "source",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "straight_through",
    "value_and_grad",
    "value_and_jacobian",
    "vhp",
    "vjp",
]


def load_ipython_extension(shell: Any) -> None:
    """Give a shell of IPython the magics of ``s2s.notebook``: what ``%load_ext s2s`` calls."""
    import importlib

    importlib.import_module("s2s.notebook").load(shell)


_LATER = {
    **dict.fromkeys(("elementwise_grad", "hessian", "hvp", "vhp", "linearize"), "s2s.transforms"),
    **dict.fromkeys(("jacfwd", "jacobian", "jacrev", "value_and_jacobian"), "s2s.transforms"),
    **dict.fromkeys(("jacobian_sparsity", "sparse_hessian", "sparse_jacobian"), "s2s.sparse"),
    **dict.fromkeys(("custom_gradient", "defjvp", "defvjp", "partials"), "s2s.directives.user_rules"),
    "Derivative": "s2s.derivatives",
    **dict.fromkeys(
        (
            "CompileTimeWarning",
            "DerivativeWarning",
            "DynamicCallWarning",
            "EditedAdjointWarning",
            "NumbaFallbackWarning",
            "NotFusedWarning",
            "NumbaLeftOutWarning",
            "RecompilationWarning",
            "RecordedWarning",
            "SearchWarning",
            "SinglePrecisionWarning",
            "SlowDerivativeWarning",
            "StraightThroughWarning",
            "TrainedOptionWarning",
            "ZeroGradientWarning",
        ),
        "s2s.notices",
    ),
    "check_grads": "s2s.testing",
    "checkpoint": "s2s.directives.checkpointing",
    "checkpointed": "s2s.directives.checkpointing",
    **dict.fromkeys(("debug", "debug_nans"), "s2s.directives.debugging"),
    "explore": "s2s.explorer.page",
    "functions": "s2s.listing",
    "implicit": "s2s.equations",
    "insert_in_reverse": "s2s.directives.inserted",
    "map": "s2s.batches",
    **dict.fromkeys(("njit_grad", "njit_value_and_grad"), "s2s.njit"),
    **dict.fromkeys(
        ("gradient_override", "nonsmooth", "register_gradient", "stop_gradient", "straight_through"),
        "s2s.directives.policies",
    ),
}


def __getattr__(name: str) -> Any:
    """Names that are imported when they are first asked for, so that ``import s2s`` is quick."""
    if name in ("distributed", "errors", "interop", "optim", "scipy") or name in _LATER:
        import importlib

        try:
            with section:
                module = importlib.import_module(_LATER.get(name, f"s2s.{name}"))
        except Exception as problem:
            from s2s.missing import without

            return without(name, problem)
        return getattr(module, name) if name in _LATER else module
    raise AttributeError(f"module 's2s' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
