"""What calls of ``numpy.random`` do: draws are functions of their parameters and of a draw that depends on none.

Methods of generators, those of ``RandomState`` and the functions of the module, which are methods of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s.models import draws
from s2s.rules.functions import describe
from s2s.rules.table import model

DRAWS = (
    draws.uniform, draws.normal, draws.lognormal, draws.exponential, draws.rayleigh, draws.laplace, draws.logistic,
    draws.gumbel, draws.weibull, draws.pareto, draws.power, draws.triangular, draws.standard_gamma, draws.gamma,
    draws.chisquare, draws.beta, draws.standard_t, draws.permutation,
)


def _register(body: Any, name: str, kinds: Any) -> None:
    for kind in kinds:
        method = getattr(kind, name)
        model(method)(body)
        describe(method, pure=False, acts=True)
    if np.random.RandomState in kinds:
        of_module = getattr(np.random, name)
        model(of_module, given=(of_module.__self__,))(body)
        describe(of_module, pure=False, acts=True)


for _body in DRAWS:
    _register(_body, _body.__name__, (np.random.Generator, np.random.RandomState))
for _of_generator in (draws.permuted, draws.choice, draws.multivariate_normal):
    _register(_of_generator, _of_generator.__name__, (np.random.Generator,))
_register(draws.choice_of_state, "choice", (np.random.RandomState,))
_register(draws.multivariate_normal_of_state, "multivariate_normal", (np.random.RandomState,))

_register(draws.shuffle, "shuffle", (np.random.Generator, np.random.RandomState))
describe(np.random.Generator.shuffle, np.random.RandomState.shuffle, changes=(1,), holds=False, pure=False, acts=True)
describe(np.random.shuffle, changes=(0,), holds=False, pure=False, acts=True)
