"""What Hessian-vector products are made of: vectors like the parameters; and a loss in, its derivative along a vector
out, as a function with a source. Where parameters are objects, the gradient of that is the product: a gradient that is
an object is put together when it is computed, so that the tangent of one has no source that could be sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.core.array_classes import is_array_class
from s2s.core.inspection import with_article
from s2s.core.linecaches import register
from s2s.errors import error
from s2s.transforms import jvp
from s2s.versions.target import parameters_of

__all__ = ["along_a_vector", "has_objects", "vector_like"]

_numbers = itertools.count()


def along_a_vector(loss: Any, name: str) -> Callable[..., Any]:
    """A function of the arguments of the loss and, last, of a vector like the first of them: the derivative of the loss
    along it. Raises ArgumentError for a loss that takes any arguments."""
    parameters = parameters_of(loss)
    names = [one.name for one in parameters]
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        raise error("S2S710", name=name, reason="it takes objects, and any number of arguments",
                    hint="write the loss with an argument for each that it takes")
    given = [f"{one.name}={one.name}" if one.kind is one.KEYWORD_ONLY else one.name for one in parameters]
    vector = _free("vector", names)
    inner, outer = _free("loss", names), _free("jvp", names)
    text = (
        f"def {_name_in_text(name)}_along({', '.join([*names, vector])}):\n"
        f"    return {outer}(lambda {names[0]}: {inner}({', '.join(given)}), ({names[0]},), ({vector},))[1]\n"
    )
    file = f"<s2s {name} along a vector {next(_numbers)}>"
    code = compile(text, file, "exec", dont_inherit=True)
    register(file, text, code)
    scope: dict[str, Any] = {"__name__": __name__, inner: loss, outer: jvp}
    scope["__s2s_code__"] = code  # as long as the function is there, so is its text
    exec(code, scope)
    made: Callable[..., Any] = scope[f"{_name_in_text(name)}_along"]
    return made


def vector_like(x: Any, v: Any) -> Any:
    """A tangent with the structure, the shapes and the dtypes of its argument. Raises ArgumentError where it does not
    fit."""
    if isinstance(x, dict) and isinstance(v, dict) and x.keys() == v.keys():
        return {key: vector_like(item, v[key]) for key, item in x.items()}
    if isinstance(x, (tuple, list)) and isinstance(v, (tuple, list)) and len(x) == len(v):
        made = [vector_like(a, b) for a, b in zip(x, v)]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    if rt.has_parts(x) and type(v) is type(x):
        parts = {key: (getattr(x, key), getattr(v, key)) for key in rt.attributes_of(x) if hasattr(v, key)}
        return rt.gradient_object(x, **{key: vector_like(a, b) if rt.floats(a) else a for key, (a, b) in parts.items()})
    if is_array_class(type(x)) or isinstance(x, (float, np.floating)):
        if np.shape(x) != np.shape(v):
            raise error("S2S514", name="the vector", got=np.shape(v), expected=np.shape(x))
        return np.asarray(v, dtype=x.dtype) if isinstance(x, np.ndarray) else type(x)(v)
    got, expected = (with_article(type(one).__name__) for one in (v, x))
    raise error("S2S515", name="the vector", got=got, expected=expected)


def has_objects(values: Any) -> bool:
    """Whether objects with attributes that are differentiated are among values, and in containers there."""
    if isinstance(values, dict):
        return has_objects([*values.values()])
    if isinstance(values, (tuple, list)):
        return any(map(has_objects, values))
    return bool(rt.has_parts(values))


def _free(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _name_in_text(name: str) -> str:
    return name if name.isidentifier() else "loss"
