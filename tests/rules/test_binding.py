"""Arguments of calls by the names of a rule's parameters: as ``inspect.Signature`` binds them."""

import inspect

import numpy as np
import pytest

import s2s
from s2s.rules import table


def bound_by_python(rule, args, kwargs):
    bound = rule.params.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def outcome(bind, *given):
    try:
        made = bind(*given)
    except TypeError as problem:
        return str(problem)
    return [(name, id(value) if name in given[0].params.parameters else value) for name, value in made.items()]


def test_every_rule_binds_any_number_of_arguments_as_python_does():
    table.extend()
    assert len(table.RULES) > 500
    for rule in table.RULES.values():
        arguments = [object() for _ in range(len(rule.params.parameters) + 2)]
        for count in range(len(arguments)):
            given = rule, tuple(arguments[:count]), {}
            mine, python = outcome(table.bind, *given), outcome(bound_by_python, *given)
            if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in rule.params.parameters.values()):
                mine, python = type(mine), type(python)  # what is collected is another tuple each time
            assert mine == python, (rule.name, count)


@pytest.mark.parametrize("signature", ["(a, b=1, /, c=2, *, d=3)", "(a, *, d)", "(*a, b=1)", "(a, **k)", "()"])
@pytest.mark.parametrize("kwargs", [{}, {"d": 7}, {"c": 7}, {"b": 7}, {"a": 7}])
def test_signatures_of_all_kinds_are_bound_as_python_does(signature, kwargs):
    def fn():
        pass

    made = eval(f"lambda {signature[1:-1]}: None")
    rule = table.Rule(fn, "custom", inspect.signature(made))
    for count in range(5):
        given = rule, tuple(range(count)), kwargs
        try:
            expected = bound_by_python(*given)
        except TypeError as problem:
            with pytest.raises(TypeError, match=str(problem).replace("(", r"\(").replace(")", r"\)")):
                table.bind(*given)
        else:
            assert list(table.bind(*given).items()) == list(expected.items())


def test_a_condition_of_where_that_is_differentiated_has_no_part_in_it():
    x = np.array([0.5, 0.0, -0.3, 1.2])

    def chosen(x):
        return np.sum(np.where(x[:3] * x[3], x[:3] ** 2, x[1:]))

    np.testing.assert_allclose(s2s.grad(chosen)(x), [1.0, 0.0, 1.0 - 0.6, 0.0])
    np.testing.assert_allclose(s2s.jvp(chosen, (x,), (np.ones(4),))[1], 1.0 + 1.0 - 0.6)
