"""A call with changes: ``drawn(seed)`` gives that of a seed.

A call begins as a sample of a rule. Each change is a value: an option of another value, another shape of one or all
drawn arguments, another dtype, order of memory or class of array of one of them. A change that the function does not
take, or that makes its result one without floats, is left out.
"""

import dataclasses
import functools
import linecache
import random

import numpy as np

from s2s.core.record import replace
from s2s.rules.samples import Sample
from tests.fuzz.functions.options import candidates, names_of
from tests.fuzz.functions.subjects import bases, by_name, subjects
from tests.rules.cases import changed, draws
from tests.rules.programs import MODULES, Program


@dataclasses.dataclass(frozen=True)
class Change:
    """``what`` is option, shape, dtype, memory or class; ``name`` that of the option or of the way; ``place`` the drawn
    argument, None for all."""

    what: str
    name: str
    value: object = None
    place: int | None = None

    def __str__(self):
        where = "" if self.place is None or self.what == "option" else f" of {self.place}"
        return f"{self.name}={self.value!r}" if self.what == "option" else f"{self.what}{where}: {self.name}"


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """A sample of a rule, and changes of it."""

    rule: object
    base: Sample
    changes: tuple[Change, ...] = ()
    seed: int = 0

    def __str__(self):
        return f"{self.rule.name}: {', '.join(map(str, self.changes)) or 'as in its sample'}"

    @functools.cached_property
    def sample(self):
        """The sample with other options and shapes."""
        sample = self.base
        for change in self.changes:
            if change.what == "option":
                sample = with_option(self.rule, sample, change.name, change.value)
            elif change.what == "shape":
                sample = with_shape(sample, change)
        return sample

    @functools.cached_property
    def draws(self):
        return list(draws([*self.sample.args, *self.sample.kwargs.values()]))

    @functools.cached_property
    def program(self):
        """The text of the call, and the constants that it names."""
        program = Program([])
        text = program.call(self.rule, self.sample)
        return text, program.parameters, program.constants

    def values(self):
        """The drawn arguments."""
        return [self.value(place, one) for place, one in enumerate(self.draws)]

    def arguments(self):
        """The arguments by position and by name."""
        values = iter(self.values())
        args = [changed(value, lambda draw: next(values)) for value in self.sample.args]
        return args, {name: changed(value, lambda draw: next(values)) for name, value in self.sample.kwargs.items()}

    def value(self, place, one):
        rng = np.random.default_rng([self.seed, place, 7])
        value = drawn_value(one, rng)
        for change in self.changes:
            if change.what in VALUES and change.place in (None, place):
                value = VALUES[change.what][change.name](value)
        return value

    def text(self, result="{}", extra=()):
        """The text of a function of the drawn arguments: the result is made of the call's by a template."""
        text, parameters, _ = self.program
        body = [f"    y = {text}", *(f"    {line}" for line in extra), f"    return {result.format('y')}"]
        imports = [f"import {m.__name__}" for m in MODULES if m is np or f"{m.__name__}." in text]
        return "\n".join([*imports, "", f"def f({', '.join(parameters)}):", *body, ""])

    def function(self, result="{}", constants=None):
        """The call as a function whose source is found."""
        return loaded(self.text(result), {**self.program[2], **(constants or {})})


def loaded(text, constants, count=iter(range(10**9))):
    """The function of a text."""
    name = f"<library {next(count)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"__name__": name, **constants}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def drawn_value(one, rng):
    """A value for a draw, away from zero where its interval is large, so that kinks are rare."""
    if one.shape is None:
        return float(rng.uniform(one.low, one.high))
    value = np.asarray(rng.uniform(one.low, one.high, one.shape))
    if one.complex:
        value = value + 1j * rng.uniform(one.low, one.high, one.shape)
    if one.positive:
        value = value @ np.conj(np.swapaxes(value, -1, -2)) + np.eye(one.shape[-1])
    return value


def numbers(result, path="{}"):
    """The parts of a result that are floats or complex, with the path to each."""
    if isinstance(result, (list, tuple)):
        return [one for k, item in enumerate(result) for one in numbers(item, f"{path}[{k}]")]
    if isinstance(result, dict):
        return [one for key, item in result.items() for one in numbers(item, f"{path}[{key!r}]")]
    kinds = "fc" if isinstance(result, (float, complex, np.ndarray, np.generic)) else ""
    return [(path, result)] if np.asarray(result).dtype.kind in (kinds or "-") else []


# --- changes of the sample -----------------------------------------------------------------------------------------


def with_option(rule, sample, name, value):
    """The sample with an option, in the place where it passes it, by name otherwise."""
    names = list(rule.params.parameters)
    if name in names[: len(sample.args)]:
        place = names.index(name)
        return Sample((*sample.args[:place], value, *sample.args[place + 1 :]), dict(sample.kwargs))
    return Sample(sample.args, {**sample.kwargs, name: value})


SHAPES = {
    "number": lambda shape: None,
    "rank 0": lambda shape: (),
    "empty": lambda shape: (0, *shape[1:]) if shape else (0,),
    "last axis empty": lambda shape: (*shape[:-1], 0) if shape else (0,),
    "first axis 1": lambda shape: (1, *shape[1:]) if shape else (1,),
    "last axis 1": lambda shape: (*shape[:-1], 1) if shape else (1,),
    "ones": lambda shape: (1,) * len(shape or ()),
    "axis in front": lambda shape: (2, *(shape or ())),
    "axis of 1 in front": lambda shape: (1, *(shape or ())),
    "axis behind": lambda shape: (*(shape or ()), 2),
    "two axes in front": lambda shape: (2, 1, *(shape or ())),
    "axis less": lambda shape: shape[1:] if shape else None,
    "vector": lambda shape: (3,),
    "matrix": lambda shape: (3, 3),
    "three axes": lambda shape: (2, 3, 4),
}


def with_shape(sample, change):
    """The sample with another shape of one drawn argument, or of all."""
    count = iter(range(10**6))

    def one(draw):
        if change.place not in (None, next(count)):
            return draw
        shape = SHAPES[change.name](draw.shape)
        if draw.positive and (shape is None or len(shape) < 2 or shape[-1] != shape[-2]):
            return draw
        return replace(draw, shape=shape, complex=draw.complex and shape is not None)

    args = changed(sample.args, one)
    return Sample(args, {name: changed(value, one) for name, value in sample.kwargs.items()})


# --- changes of the values -----------------------------------------------------------------------------------------


class Plain(np.ndarray):
    """A subclass that changes nothing."""


def spread(value):
    """The value in every second place of a larger array."""
    if np.ndim(value) == 0:
        return value
    larger = np.full((*value.shape[:-1], 2 * value.shape[-1]), 9.0, value.dtype)
    larger[..., ::2] = value
    return larger[..., ::2]


def reversed_in_memory(value):
    return np.ascontiguousarray(value[::-1])[::-1] if np.ndim(value) else value


def frozen(value):
    value = np.array(value) if isinstance(value, np.ndarray) else value
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value


def turned(value):
    """Complex, with an imaginary part."""
    if isinstance(value, float):
        return complex(value, 0.4)
    return value + 0.3j * np.cos(np.arange(value.size)).reshape(value.shape)


def cast(dtype):
    def one(value):
        return value.astype(dtype) if isinstance(value, np.ndarray) else dtype(value)

    return one


def whole(value):
    return int(round(2 * value)) if isinstance(value, float) else np.rint(2 * value.real).astype(np.int64)


def masked(value):
    mask = np.zeros(np.shape(value), bool)
    mask.flat[:1] = True
    return np.ma.MaskedArray(value, mask)


def of_arrays(make):
    return lambda value: make(value) if isinstance(value, np.ndarray) else value


VALUES = {
    "dtype": {"float32": cast(np.float32), "complex": turned, "int": whole,
              "NumPy number": lambda value: np.float64(value) if isinstance(value, float) else value},
    "memory": {"F": of_arrays(np.asfortranarray), "spread": spread, "reversed": reversed_in_memory, "read-only": frozen,
               "transposed": of_arrays(lambda value: np.array(value.T).T)},
    "class": {
        "np.matrix": of_arrays(np.matrix), "masked": of_arrays(masked), "not masked": of_arrays(np.ma.MaskedArray),
        "subclass": of_arrays(lambda value: value.view(Plain)), "list": of_arrays(np.ndarray.tolist),
    },
}  # fmt: skip


# --- the call of a seed ----------------------------------------------------------------------------------------------

CHANCES = {"option": 0.75, "shape": 0.5, "dtype": 0.35, "memory": 0.25, "class": 0.1}
TRIES = 6


def drawn(seed, functions=None):
    """The call of a seed: all functions in turn (those of the names, where some are given)."""
    choose = random.Random(f"library {seed}")
    rules = [by_name()[name] for name in functions] if functions else subjects()
    rule = rules[seed % len(rules)]
    if not bases(rule):
        return None
    call = Call(rule, choose.choice(bases(rule)), seed=seed)
    result = result_of(call)
    if result is None:
        return None
    for what, chance in CHANCES.items():
        if choose.random() < chance:
            for _ in range(2 if what == "option" and choose.random() < 0.3 else 1):
                call, result = varied(call, result, what, choose)
    return call


def varied(call, result, what, choose):
    """The call with one more change of a sort, one that changes the result where it is found, and its result."""
    spare = None
    for _ in range(TRIES):
        change = proposed(call, what, choose)
        if change is None:
            break
        tried = dataclasses.replace(call, changes=(*call.changes, change))
        found = result_of(tried)
        if found is None:
            continue
        if what != "option" or differs(found, result):
            return tried, found
        spare = tried, found
    return spare if spare and choose.random() < 0.3 else (call, result)


def proposed(call, what, choose):
    if what == "option":
        names = names_of(call.rule)
        rank = max((len(one.shape or ()) for one in call.draws), default=0)
        name = choose.choice(names) if names else None
        values = candidates(call.rule, name, rank) if names else []
        return Change(what, name, choose.choice(values)) if values else None
    if not call.draws:  # an option has taken their place
        return None
    ways = SHAPES if what == "shape" else VALUES[what]
    place = choose.randrange(len(call.draws)) if choose.random() < 0.6 else None
    return Change(what, choose.choice(list(ways)), None, place)


def result_of(call):
    """What the function gives, None where it does not take the arguments, or where there are no floats in it."""
    try:
        with np.errstate(all="ignore"):
            found = call.function()(*call.values())
            return found if numbers(found) else None
    except Exception:
        return None


def differs(one, other):
    """Whether two results differ in structure, shape, dtype or value."""
    one, other = numbers(one), numbers(other)
    if [path for path, _ in one] != [path for path, _ in other]:
        return True
    for (_, a), (_, b) in zip(one, other):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, equal_nan=True):
            return True
    return False
