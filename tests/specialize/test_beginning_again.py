"""What a function may not do before a check of what was observed: what would be done twice, if it began again."""

import math
import random

import numpy as np
import pytest

from s2s.core import ir
from s2s.specialize.beginning_again import _Order

STREAM = np.random.default_rng(0)


@pytest.mark.parametrize("fn, acts", [
    (random.random, True), (random.gauss, True), (random.Random.gauss, True), (random.Random(3).uniform, True),
    (STREAM.normal, True), (np.random.Generator.normal, True), (print, True),
    (math.sin, False), (np.sum, False), (np.linalg.inv, False), ([1.0].count, False),
])
def test_draws_and_output_are_seen_outside(fn, acts):
    assert _Order(ir.Block((), ()), acts=False)._acts(fn) is acts
