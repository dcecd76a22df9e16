"""What calls of ``numpy.random`` do: draws are functions of their parameters and of a draw that depends on none.

Methods of generators, those of ``RandomState`` and the functions of the module, which are methods of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.models import draws
from s2s.rules.functions import describe
from s2s.rules.table import model

describe(np.random.shuffle, changes=(0,), holds=False, pure=False, acts=True)

DRAWS = (
    draws.uniform, draws.normal, draws.lognormal, draws.exponential, draws.rayleigh, draws.laplace, draws.logistic,
    draws.gumbel, draws.weibull, draws.pareto, draws.power, draws.triangular, draws.gamma,
)


def _register(body: Any) -> None:
    for kind in (np.random.Generator, np.random.RandomState):
        method = getattr(kind, body.__name__)
        model(method)(body)
        describe(method, pure=False, acts=True)
    of_module = getattr(np.random, body.__name__)
    model(of_module, given=(of_module.__self__,))(body)
    describe(of_module, pure=False, acts=True)


for _body in DRAWS:
    _register(_body)
