"""Models of library functions, run in plain Python: their values are those of the library for options of every kind.

A program takes ``do``, which gives for a function of a library that function, or the model that stands for it. So it is
run twice, and nothing is compiled.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from s2s.models.sparse import Entries
from s2s.rules.table import find
from tests.models import (
    programs_of_kernels,
    programs_of_lapack,
    programs_of_signals,
    programs_of_statistics,
    value_programs,
)
from tests.models.value_programs import Program

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning", "ignore::DeprecationWarning")


def of_library(fn: Any) -> Any:
    return fn


def model_of(fn: Any) -> Any:
    """The model that stands for a function, a class, or a method of an object."""
    owner = getattr(fn, "__self__", None)
    is_method = owner is not None and not inspect.ismodule(owner) and not isinstance(fn, type)
    rule = find(getattr(type(owner), fn.__name__) if is_method else fn)
    assert rule is not None and rule.kind == "model", fn
    return partial(rule.body, *rule.given, *([owner] if is_method else []))


def assert_same(found: Any, wanted: Any, rtol: float = 1e-9, atol: float = 1e-10) -> None:
    if isinstance(found, Entries):
        assert sparse.issparse(wanted)
        assert found.format == wanted.format or wanted.format not in ("csr", "csc", "coo")
        assert found.shape == wanted.shape and found.array == isinstance(wanted, sparse.sparray)
        assert_same(found.toarray(), wanted.toarray(), rtol, atol)
        if wanted.format in ("csr", "csc") and wanted.has_sorted_indices:
            assert_same(found.data, wanted.data, rtol, atol)
    elif isinstance(wanted, Rotation):
        assert_same(found.as_matrix(), wanted.as_matrix(), rtol, atol)
    elif sparse.issparse(wanted):
        assert_same(found.toarray(), wanted.toarray(), rtol, atol)
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for f, w in zip(found, wanted, strict=True):
            assert_same(f, w, rtol, atol)
    elif wanted is None or isinstance(wanted, (str, bool)):
        assert found == wanted
    else:
        assert np.shape(found) == np.shape(wanted)
        assert np.iscomplexobj(found) == np.iscomplexobj(wanted)
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)


def named(programs: dict[str, list[Program]]) -> list[Any]:
    return [pytest.param(f, id=f"{room}-{k}") for room, some in programs.items() for k, f in enumerate(some)]


MODULES = (value_programs, programs_of_statistics, programs_of_signals, programs_of_kernels, programs_of_lapack)


@pytest.mark.parametrize("program", [param for module in MODULES for param in named(module.PROGRAMS)])
def test_value(program: Program) -> None:
    assert_same(program(model_of), program(of_library))
