"""A gradient has the shape of its argument: known when it is compiled, or compared when it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import s2s
from s2s.errors import InternalError
from s2s.rules import table
from tests.rules.test_table import scratch  # noqa: F401


def doubled(a: Any) -> Any:
    return 2.0 * a


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_a_rule_that_gives_another_shape_is_no_gradient(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    table.vjp(doubled, a=lambda y_bar: 2.0 * np.reshape(y_bar, (3, 2)))

    def f(x: Any) -> Any:
        return np.sum(doubled(x) * 1.5)

    x = np.ones(shape)
    if shape == (3, 2):
        np.testing.assert_array_equal(s2s.grad(f)(x), np.full((3, 2), 3.0))
        return
    with pytest.raises(InternalError, match=r"with respect to `x` has shape \(3, 2\), the argument \(2, 3\)"):
        s2s.grad(f)(x)
    with pytest.raises(InternalError, match=r"with respect to `x` has shape \(3, 2\), the argument \(2, 3\)"):
        s2s.vjp(f, x)[1](1.0)
    monkeypatch.setenv("S2S_RECORDED", "1")
    unread = eval("lambda x: np.sum(doubled(x) * 1.5)", globals())  # has no source: each operation is compiled alone
    with pytest.raises(InternalError, match=r"has shape \(3, 2\), the argument \(2, 3\)"):
        s2s.grad(unread)(x)


@pytest.mark.parametrize("f", [
    lambda x, y: np.sum(np.sin(x) * y),
    lambda x, y: np.sum(np.outer(x, y)) + x[0] * y[1],
    lambda x, y: np.sum((x - y) ** 2) + np.linalg.norm(np.where(x > 0.0, x, y)),
])
def test_nothing_is_compared_where_shapes_are_known(f: Any) -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0, 0.5])
    assert "check_gradient" not in s2s.source(f, x, y, argnums=(0, 1))
