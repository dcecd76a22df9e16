"""Parts of arguments by their paths."""

import collections

import pytest

from s2s.recorded.entry import _with, at_path

Pair = collections.namedtuple("Pair", "one other")


@pytest.mark.parametrize("path, wanted", [
    ((), "new"),
    (("b",), {"a": [1.0, (2.0, Pair(3.0, 4.0))], "b": "new"}),
    (("a", 0), {"a": ["new", (2.0, Pair(3.0, 4.0))], "b": 5.0}),
    (("a", 1, 0), {"a": [1.0, ("new", Pair(3.0, 4.0))], "b": 5.0}),
    (("a", 1, 1, 0), {"a": [1.0, (2.0, Pair("new", 4.0))], "b": 5.0}),
])  # fmt: skip
def test_another_part_at_a_path(path, wanted):
    value = {"a": [1.0, (2.0, Pair(3.0, 4.0))], "b": 5.0}
    changed = _with(value, path, "new")
    assert changed == wanted and value["a"][1] == (2.0, Pair(3.0, 4.0))
    if path:
        assert at_path(changed, path) == "new"
    if len(path) == 4:
        assert type(changed["a"][1][1]) is Pair
