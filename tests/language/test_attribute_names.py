"""Attributes and arguments whose names code cannot spell: keywords, other texts, and names that Python's parser
normalises, as the ligature of f and i. Against closed forms."""

import types

import pytest

import s2s

LIGATURE = "\ufb01"
NAMES = ["class", "None", "__debug__", "two words", "", LIGATURE, "\xb5", "e\u0301"]

pytestmark = pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")


class Holder:
    fi = 100.0

    def __init__(self, name=None):
        if name is not None:
            setattr(self, name, 3.0)


def squares(holder):
    return sum(value * value for value in vars(holder).values())


@pytest.mark.parametrize("name", NAMES)
def test_attributes_that_are_read(name):
    holder = Holder(name)
    assert s2s.grad(lambda x: x * x * squares(holder))(2.0) == 36.0
    assert s2s.grad(lambda x: x * x * getattr(holder, name))(2.0) == 12.0
    assert s2s.grad(lambda x, holder: x * x * squares(holder))(2.0, holder) == 36.0
    assert s2s.jvp(lambda x: x * x * getattr(holder, name), (2.0,), (1.0,)) == (12.0, 12.0)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_that_are_set(name):
    def stored(x, holder):
        setattr(holder, name, 3.0)
        return x * x * getattr(holder, name)

    def made(x):
        holder = Holder()
        setattr(holder, name, x * x)
        return getattr(holder, name) * x

    assert s2s.grad(stored)(2.0, Holder()) == 12.0
    assert s2s.grad(made)(2.0) == 12.0


@pytest.mark.parametrize("name", NAMES)
def test_arguments_by_keyword(name):
    def of_namespace(x):
        return vars(types.SimpleNamespace(**{name: x * x}))[name]

    assert s2s.grad(of_namespace)(2.0) == 4.0
    assert s2s.grad(lambda x: dict(**{name: x * x})[name])(2.0) == 4.0


def test_names_that_are_one_for_the_parser_are_two_attributes():
    def f(x):
        holder = Holder()
        holder.fi = x * x
        setattr(holder, LIGATURE, x)
        for _ in range(2):
            holder.fi = holder.fi * x
            setattr(holder, LIGATURE, getattr(holder, LIGATURE) + 1.0)
        return holder.fi * getattr(holder, LIGATURE)  # x**4 * (x + 2)

    assert s2s.grad(f)(2.0) == 5.0 * 2.0**4 + 8.0 * 2.0**3
    assert s2s.jvp(f, (2.0,), (1.0,)) == (64.0, 144.0)


@pytest.mark.parametrize("name", NAMES)
def test_an_object_with_such_an_attribute_is_differentiated_by_none(name):
    with pytest.raises(s2s.errors.ArgumentError, match="which code cannot name") as caught:
        s2s.grad(squares)(Holder(name))
    assert caught.value.diagnostic.code == "S2S504"


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_such_a_name(name):
    def cube(x):
        return x * x * x

    cube.__name__ = cube.__qualname__ = name
    assert s2s.grad(cube)(2.0) == 12.0
    assert s2s.grad(lambda x: cube(x) * x)(2.0) == 32.0
