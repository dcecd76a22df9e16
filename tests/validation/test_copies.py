"""Copies of arguments share among themselves what the originals share, and nothing with these."""

import collections
import types

import numpy as np
import pytest

from s2s.validation.copies import NotCopied, copied


class Model:
    def __init__(self, w):
        self.w = w
        self.me = self


class Slotted:
    __slots__ = ("a", "b")


def test_views_stay_views():
    base = np.arange(12.0).reshape(3, 4)
    views = [base, base[1:, ::2], base.T, base[::-1], base.ravel()[3:], np.broadcast_to(base[0], (2, 4))]
    made = copied(views)
    for old, new in zip(views, made, strict=True):
        assert np.array_equal(old, new) and old.strides == new.strides and old.dtype == new.dtype
        assert old.flags.writeable == new.flags.writeable and not np.shares_memory(old, new)
    made[0][1, 2] = -5.0
    assert made[1][0, 1] == made[2][2, 1] == made[3][1, 2] == made[4][3] == -5.0
    assert base[1, 2] == 6.0


def test_one_object_in_two_places():
    x, inner = np.ones(2), [1.0]
    old = {"a": x, "b": [x, inner], "c": (inner, inner), "d": collections.deque([inner])}
    made = copied(old)
    assert made["a"] is made["b"][0] and made["c"][0] is made["c"][1] is made["b"][1] is made["d"][0]
    assert made["a"] is not x and made["c"][0] is not inner


def test_objects_and_what_refers_to_itself():
    model, slotted, looped = Model(np.ones(3)), Slotted(), []
    slotted.a = model.w
    looped.append(looped)
    made, other, ring, space = copied((model, slotted, looped, types.SimpleNamespace(w=model.w)))
    assert made.me is made and made.w is other.a is space.w and made.w is not model.w and not hasattr(other, "b")
    assert ring[0] is ring


def test_methods_take_their_object_along():
    model = Model(np.ones(1))
    model.w_of = types.MethodType(lambda self: self.w, model)
    made, method = copied((model, model.w_of))
    assert method() is made.w


@pytest.mark.parametrize("value", [iter([1.0]), (x for x in "ab"), open(__file__), np.ma.masked_array([1.0])])  # noqa: SIM115
def test_what_is_not_copied(value):
    with pytest.raises(NotCopied):
        copied([value])
