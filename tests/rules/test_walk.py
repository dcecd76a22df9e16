"""Every public function of NumPy and of Python's numeric modules has a rule, or stands here with the reason why not."""

from __future__ import annotations

import cmath
import math
import operator
import statistics
import types
from typing import Any

import numpy as np
import pytest

from s2s.rules import table
from s2s.rules.numpy.ufuncs import METHODS as WRITTEN_OUT
from s2s.rules.table import ATTRIBUTES, PASSIVE_ATTRIBUTES, find

table.extend()

MODULES: list[Any] = [np, np.linalg, np.fft, math, cmath, operator, statistics]

WITHOUT: dict[str, str] = {
    "reads or writes files and text": """fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez
        savez_compressed from_dlpack""",
    "settings and information": """get_include get_printoptions getbufsize geterrcall printoptions set_printoptions
        setbufsize seterrcall show_config show_runtime test __array_namespace_info__""",
    "dates": """busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday
        timedelta64""",
    "types": "ndarray ufunc flatiter record recarray LinAlgError StatisticsError NormalDist",
    "makes a function": "vectorize attrgetter itemgetter methodcaller call",
    "of Python's containers": "concat iconcat setitem delitem",
    "goes through positions": "ndindex",
    "an old name, deprecated": "row_stack trapz in1d",
}
"""Names without a rule of their own, by reason."""

RAISES = "itemset newbyteorder ptp"
"""Attributes of arrays that an older NumPy has, to say what to write in place of a method that is gone."""

LOOKS_AT_BYTES = "byteswap getfield setfield to_device tostring"
"""Methods of arrays that are not differentiated."""


def public(module: Any) -> list[str]:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    names = [name for name in names if not name.startswith("_") or name.endswith("_")]
    return sorted(name for name in names if callable(getattr(module, name, None)))


def is_type_of_elements(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, np.generic)


def listed() -> set[str]:
    return {name for names in WITHOUT.values() for name in names.split()}


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_every_public_function_is_covered_or_listed(module: Any) -> None:
    members = {name: getattr(module, name) for name in public(module)}
    rest = {name for name, fn in members.items() if find(fn) is None and not is_type_of_elements(fn)}
    assert not rest - listed()


def test_what_is_listed_has_no_rule() -> None:
    for name in listed():
        members = [getattr(module, name) for module in MODULES if name in public(module)]
        assert not members or any(find(fn) is None for fn in members), name


def test_types_of_numbers_are_covered() -> None:
    for name in np.__all__:
        kind = getattr(np, name)
        if is_type_of_elements(kind) and issubclass(kind, np.number) and not kind.__subclasses__():
            assert find(kind) is not None or kind is np.timedelta64, name


def test_every_method_and_attribute_of_arrays_is_covered_or_listed() -> None:
    for name in dir(np.ndarray):
        member = getattr(np.ndarray, name)
        if name.startswith("_") or name in RAISES.split():
            continue
        if isinstance(member, types.MethodDescriptorType):
            assert find(member) is not None or name in LOOKS_AT_BYTES.split(), name
        else:
            assert name in ATTRIBUTES or name in PASSIVE_ATTRIBUTES or name in ("flat", "data", "ctypes"), name


def test_methods_of_ufuncs_have_a_rule_or_are_written_out() -> None:
    assert set(WRITTEN_OUT) == {"reduce", "accumulate", "outer", "reduceat"}
