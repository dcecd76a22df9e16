"""Tangents and cotangents as they were given, made to fit the values that they belong to."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2s import runtime as rt
from s2s.arrays import on
from s2s.core.array_classes import is_array_class, module_of_arrays
from s2s.core.inspection import with_article
from s2s.core.values import Instance
from s2s.errors import DifferentiationError, error
from s2s.versions.carriers import carries_arrays, is_labelled_as, parts_of, put_together
from s2s.versions.signature import describe, has_attributes, has_float

__all__ = ["fit", "fit_tangent"]


def fit_tangent(tangent: Any, primal: Any, name: str) -> Any:
    """A tangent as an argument of its own in the structure, shape, dtype and memory layout of its primal; None in it
    stands for zeros. Raises ArgumentError where it does not fit."""
    if tangent is None:
        return rt.zeros_of(primal)
    if isinstance(primal, (tuple, list)):
        if not isinstance(tangent, (tuple, list)) or len(tangent) != len(primal):
            raise _tangent_error(tangent, primal, name)
        items = [fit_tangent(t, p, name) for t, p in zip(tangent, primal, strict=True)]
        return type(primal)(*items) if hasattr(primal, "_fields") else type(primal)(items)
    if isinstance(primal, dict):
        if not isinstance(tangent, dict) or tangent.keys() != primal.keys():
            raise _tangent_error(tangent, primal, name)
        return {key: fit_tangent(tangent[key], value, name) for key, value in primal.items()}
    if is_array_class(type(primal)) and not isinstance(primal, np.ndarray):
        return _fit_other(tangent, primal, name)
    if carries_arrays(primal):
        if not is_labelled_as(tangent, primal):
            raise _tangent_error(tangent, primal, name)
        return _fitted(tangent, primal, lambda t, p: fit_tangent(t, p, name))
    if has_attributes(primal) or type(primal) is types.SimpleNamespace:
        if type(tangent) is not type(primal):
            raise _tangent_error(tangent, primal, name)
        known = describe(primal, "a", True)
        parts = {
            key: fit_tangent(getattr(tangent, key, None), getattr(primal, key), name)
            for key, item in zip(known.keys, known.items, strict=True) if has_float(item)
        } if isinstance(known, Instance) else {}
        return rt.gradient_object(primal, **parts)
    if not isinstance(primal, (np.ndarray, np.generic, float, complex)):
        return tangent
    given = np.asarray(tangent)
    is_complex = given.dtype.kind == "c" and not np.iscomplexobj(primal)
    if _is_masked(tangent, primal) or given.dtype.kind not in "biufc" or is_complex:
        raise _tangent_error(tangent, primal, name)
    if given.shape != np.shape(primal):
        raise error(
            "S2S514", name=name, got=given.shape, expected=np.shape(primal),
            hint="give the tangent the shape of its primal",
        )
    if not isinstance(primal, np.ndarray):
        return type(primal)(given[()])
    made = np.empty_like(primal)
    made[...] = given
    return made


def _fit_other(tangent: Any, primal: Any, name: str) -> Any:
    """The tangent of an array of another module than NumPy: one of the same class, or a number for one of rank 0."""
    np_ = on(module_of_arrays(type(primal)))  # type: ignore[arg-type]
    if not isinstance(tangent, (type(primal), int, float, complex, np.generic)):
        raise _tangent_error(tangent, primal, name)
    given = np_.asarray(tangent)
    if given.dtype.kind not in "biufc" or (given.dtype.kind == "c" and primal.dtype.kind != "c"):
        raise _tangent_error(tangent, primal, name)
    if np_.shape(given) != np_.shape(primal):
        hint = "give the tangent the shape of its primal"
        raise error("S2S514", name=name, got=given.shape, expected=primal.shape, hint=hint)
    return given.astype(primal.dtype)


def _fit_other_cotangent(cotangent: Any, out: Any, name: str) -> Any:
    """The cotangent of an array of another module than NumPy."""
    np_ = on(module_of_arrays(type(out)))  # type: ignore[arg-type]
    if cotangent is None and out.dtype.kind not in "fc":
        return rt.zeros_of(out)
    if not isinstance(cotangent, (type(out), int, float, complex, np.generic)):
        raise _structure_error(cotangent, out, name)
    given = np_.asarray(cotangent)
    if np_.shape(given) != np_.shape(out):
        raise error(
            "S2S506", name=name, got=given.shape, expected=out.shape, hint="give the cotangent the shape of the result")
    if given.dtype.kind == "c" and out.dtype.kind != "c":
        raise error(
            "S2S505", name=name, got=f"complex ({given.dtype})", expected=f"real ({out.dtype})",
            hint="give a real cotangent, np.real(cotangent)")
    return given if given.dtype == out.dtype or out.dtype.kind not in "fc" else given.astype(out.dtype)


def _tangent_error(tangent: Any, primal: Any, name: str) -> DifferentiationError:
    kind = f" ({np.result_type(tangent)})" if isinstance(tangent, (np.ndarray, np.generic)) else ""
    return error(
        "S2S515", name=name, got=_structure(tangent) + kind, expected=_structure(primal),
        hint="give the tangent the structure and the kind of its primal",
    )


def fit(cotangent: Any, out: Any, name: str) -> Any:
    """The cotangent, if it fits the result: the same containers, the same shapes. Raises ArgumentError."""
    if isinstance(out, (tuple, list)):
        if not isinstance(cotangent, (tuple, list)) or len(cotangent) != len(out):
            raise _structure_error(cotangent, out, name)
        items = [fit(c, o, name) for c, o in zip(cotangent, out, strict=True)]
        return type(out)(*items) if hasattr(out, "_fields") else type(out)(items)
    if isinstance(out, dict):
        if not isinstance(cotangent, dict) or cotangent.keys() != out.keys():
            raise _structure_error(cotangent, out, name)
        return {key: fit(cotangent[key], value, name) for key, value in out.items()}
    if is_array_class(type(out)) and not isinstance(out, np.ndarray):
        return _fit_other_cotangent(cotangent, out, name)
    if carries_arrays(out):
        if not is_labelled_as(cotangent, out):
            raise _structure_error(cotangent, out, name)
        return _fitted(cotangent, out, lambda c, o: fit(c, o, name))
    if not isinstance(out, (np.ndarray, np.generic, int, float, complex)):
        return cotangent
    if cotangent is None and np.result_type(out).kind not in "fc":
        return rt.zeros_of(out)
    return _fit_number(cotangent, out, name)


def _fitted(given: Any, like: Any, fit_part: Callable[[Any, Any], Any]) -> Any:
    """An object with the arrays of another one of the same labels, each made to fit."""
    found = parts_of(given) or {}
    return put_together(like, {name: fit_part(found[name], part) for name, part in (parts_of(like) or {}).items()})


def _fit_number(cotangent: Any, out: Any, name: str) -> Any:
    is_array = isinstance(out, np.ndarray)
    if isinstance(cotangent, (tuple, dict)) or cotangent is None or isinstance(cotangent, (str, bytes)):
        raise _structure_error(cotangent, out, name)
    if _is_masked(cotangent, out):
        raise _structure_error(cotangent, out, name)
    if isinstance(cotangent, list) or (is_array and type(cotangent) not in (np.ndarray, type(out))):
        cotangent = np.asarray(cotangent)  # a matrix, too: its operators are its own
    if np.shape(cotangent) != np.shape(out):
        raise error(
            "S2S506",
            name=name,
            got=np.shape(cotangent),
            expected=np.shape(out),
            hint="give the cotangent the shape of the result, np.ones_like(out) for a sum",
        )
    kind = np.result_type(cotangent).kind
    if kind not in "biufc":
        raise _structure_error(cotangent, out, name)
    if kind == "c" and np.result_type(out).kind != "c":
        raise _kind_error(cotangent, out, name)
    if not is_array:
        return _as_number(cotangent, out)
    # The reverse sweep may rely on the result's dtype, and float32 in gives float32 out.
    return (
        cotangent
        if cotangent.dtype == out.dtype or out.dtype.kind not in "fc"
        else cotangent.astype(out.dtype)
    )


def _is_masked(given: Any, like: Any) -> bool:
    """Whether entries of a tangent or cotangent are masked, of a value that is no masked array."""
    return isinstance(given, np.ma.MaskedArray) and type(like) is not type(given) and bool(np.ma.is_masked(given))


def _as_number(cotangent: Any, out: Any) -> Any:
    """The cotangent of a number as a number of its kind, as the reverse sweep may rely on it."""
    kind = type(out)
    if not issubclass(kind, (float, complex, np.inexact)) or type(cotangent) is kind:
        return cotangent
    return kind(cotangent[()] if isinstance(cotangent, np.ndarray) else cotangent)


def _structure_error(cotangent: Any, out: Any, name: str) -> DifferentiationError:
    return error(
        "S2S505",
        name=name,
        got=_structure(cotangent),
        expected=_structure(out),
        hint="give the cotangent the structure of the result",
    )


def _kind_error(cotangent: Any, out: Any, name: str) -> DifferentiationError:
    return error(
        "S2S505",
        name=name,
        got=f"complex ({np.result_type(cotangent)})",
        expected=f"real ({np.result_type(out)})",
        hint="give a real cotangent, np.real(cotangent)",
    )


def _structure(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"{with_article(type(value).__name__)} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(str, value))}"
    if isinstance(value, np.ndarray):
        return "an array" if type(value) is np.ndarray else with_article(type(value).__name__)
    return "None" if value is None else with_article(type(value).__name__)
