"""Identifiers are those that Python makes of them: letters that stand for the same one are one (NFKC)."""

import numpy as np
import pytest

import s2s
from tests.helpers import check

X = np.array([0.7, 1.3, 0.4])

µ_outside = 3.0  # noqa: PLC2401  # U+00B5; below it is U+03BC


class Holder:
    def __init__(self, µ):
        self.µ = µ

    @property
    def ℌ(self):
        return self.μ * 2.0


def local(x):
    µ = np.sum(x * x)
    return μ * 2.0


def attributes(x):
    o = Holder(x[0])
    o.ﬁ = x[1]
    return o.μ * o.fi * o.H + o.µ


def scaled(µ, *, ﬁ=1.0):
    return μ * fi


def keywords(x):
    return scaled(μ=x[0], fi=x[1]) + scaled(x[0], ﬁ=x[2])


def keys(x):
    return dict(µ=x[0])["μ"] ** 2


def nested(x):
    f = lambda µ: μ * x[0]  # noqa: E731
    return f(x[1]) + sum([µ * μ for µ in x])


def an_import(x):
    import numpy as ﬁ

    return fi.sum(x)


def from_outside(x):
    return μ_outside * x[0]


def statements(x):
    y = 0.0
    for µ in x:
        y = y + μ * x[0]
    try:
        1 / 0
    except ZeroDivisionError as ℌ:
        y = y + len(H.args)
    match x[0]:
        case ﬁ:
            y = y * fi
    return y


@pytest.mark.parametrize(
    "f", [local, attributes, keywords, keys, nested, an_import, from_outside, statements], ids=lambda f: f.__name__
)
def test_gradient(f):
    check(f, (X,))


@pytest.mark.parametrize("name", ["µ", "μ"])
def test_arguments_by_name(name):
    def f(µ, ﬁ):
        return μ * fi

    def g(**options):
        return options["μ"] ** 2

    assert s2s.grad(f, argnums=name)(2.0, 3.0) == 3.0
    assert s2s.grad(f, argnums=name)(μ=2.0, fi=3.0) == 3.0
    assert s2s.jacfwd(f, argnums=name)(2.0, 3.0) == 3.0
    assert s2s.grad(g, argnums=name)(μ=3.0) == 6.0


def test_the_source_has_the_names_as_python_stores_them():
    def f(µ, ﬁ):
        return μ * fi

    assert "def f_grad(μ, fi):" in s2s.source(f, 2.0, 3.0)
