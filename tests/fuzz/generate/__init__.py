"""A seed goes in, the source of a random program ``f`` and inputs for it come out: ``program(seed, kind)``.

A program is text, with helper functions before ``f``. It is generated with the kind of every variable known
(float, int, array, list or matrix of a known size), so that nearly all programs run; those that do not, that
overflow, or that have a kink near their inputs are told by ``check`` and skipped.

A variable of the generator is any place that can be read and stored: ``v1``, ``b2["w"]``, ``b3.a``. So a container or
object needs only the statement that makes it: what is done with arrays is then done with its parts.

Modules in reading order: ``base``, ``expressions``, ``plain``, ``guarded``, ``control``, ``stores``, ``matrices``
(methods of the writer, in layers), ``writer`` (whole programs); and the kinds of statements that are functions of a
writer: ``containers``, ``lists``, ``views``, ``pieces``, ``helpers``, ``calls``, ``loops``, ``ufuncs``, ``orders``,
``objects``, ``records``, ``closures``, ``exits``, ``conditions``, ``aliases``, ``buffers``, ``counters``, ``steps``,
``outside``.
To add a kind of statement, write such a function, register it with ``@writes``,
and name its feature in a row of ``KINDS``.
"""

import numpy as np

from tests.fuzz.generate import (  # noqa: F401  they register what they write
    aliases,
    buffers,
    calls,
    closures,
    conditions,
    containers,
    counters,
    exits,
    helpers,
    lists,
    loops,
    objects,
    orders,
    outside,
    pieces,
    records,
    steps,
    ufuncs,
    views,
)
from tests.fuzz.generate.base import FLOAT, INT, Program
from tests.fuzz.generate.writer import Writer

PURE = {"pure": 1}
STORES = {"pure": 1, "stores": 1}


def teeth(**features):
    """Few plain statements, those that change arrays, and a good share of what a kind is about."""
    return {"pure": 0.25, "stores": 0.5, "teeth": 2, **features}


KINDS = {
    "plain": PURE,
    "stores": STORES,
    "guarded": {"pure": 1, "guarded": 1},
    "containers": teeth(containers=3),
    "views": teeth(views=3),
    "helpers": teeth(helpers=3),
    "loops": teeth(loops=3),
    "ufuncs": teeth(ufuncs=4),
    "orders": teeth(orders=4),
    "objects": teeth(objects=3),
    "closures": teeth(closures=3),
    "exits": teeth(exits=3),
    "conditions": teeth(conditions=3),
    "aliases": teeth(aliases=3),
    "buffers": {"pure": 0.1, "teeth": 0.3, "buffers": 4},
    "counters": {"pure": 0.1, "teeth": 0.3, "counters": 4},
    "lists": {"pure": 0.4, "teeth": 0.5, "lists": 3},
    "pieces": teeth(pieces=4),
    "calls": teeth(calls=4),
    "records": teeth(records=4),
    "steps": {"pure": 1, "steps": 6},
    "outside": {"pure": 0.5, "stores": 0.2, "outside": 3},
    "mixed": teeth(containers=1, views=1, helpers=1, loops=1, ufuncs=1, orders=1, objects=1, closures=1, exits=1,
                   conditions=1, aliases=1, buffers=1, counters=1,
                   guarded=0.3, lists=1, pieces=1, calls=1, records=1),
}  # fmt: skip


def kind_of(seed):
    """The kind of a seed where none is asked for: all in turn, ``mixed`` as often as each other."""
    return list(KINDS)[seed % len(KINDS)]


def program(seed, kind=None):
    """The program of a seed."""
    kind = kind or kind_of(seed)
    writer = Writer(f"{kind} {seed}", KINDS[kind])
    text, params = writer.module()
    draw = np.random.default_rng(seed)
    samples = tuple(tuple(value(writer, name, kind, draw) for name, kind in params.items()) for _ in range(2))
    return Program(text, samples, seed, kind)


def value(writer, name, kind, draw):
    """What is passed for a parameter."""
    if name in writer.given:
        held = writer.given[name]
        if kind.name != "box":
            return held
        if isinstance(held, dict):
            return {key: np.array(item) for key, item in held.items()}
        return [np.array(item) for item in held]
    if kind == FLOAT:
        return float(np.round(draw.uniform(0.3, 1.6) * draw.choice([-1, 1]), 3))
    if kind == INT:
        return int(draw.integers(0, 5))
    shape = (kind.rows, kind.length) if kind.name == "matrix" else kind.length
    drawn = np.round(draw.uniform(0.3, 1.6, shape) * draw.choice([-1, 1], shape), 3)
    return np.asfortranarray(drawn) if draw.random() < 0.5 else drawn
