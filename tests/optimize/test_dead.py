"""Which functions have no effect but their result: a call of one goes where nothing reads it."""

import numpy as np
import pytest

import s2s
from s2s.optimize.dead import is_pure


@pytest.mark.parametrize("fn", [s2s.grad, s2s.jvp, s2s.differentiable, np.sin, np.where, len, ValueError, np.errstate])
def test_pure(fn):
    assert is_pure(fn)


@pytest.mark.parametrize("fn", [print, list.append, list.pop, np.random.normal, np.copyto, object()])
def test_not_pure(fn):
    assert not is_pure(fn)
