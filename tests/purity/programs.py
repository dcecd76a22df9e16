"""Statements that would run code of the program, or change something, if the compiler evaluated them; and where they
stand in a function."""

import ast
import re
import textwrap
from collections.abc import Iterator

OBJECTS = (
    "LOUD", "WATCHED", "FAKED", "DESCRIBED", "LFLOAT", "LINT", "LSTR", "LLIST", "LTUPLE", "LDICT", "LARRAY", "OARRAY",
    "Classed", "WatchedClass", "Color", "PARTIAL", "UFUNC", "HOLDER.loud", "HOLDER.watched", "IN_LIST[0]",
    "IN_TUPLE[0]", "IN_DICT[1]", "loud_module",
)
"""Objects in globals, in objects and in containers."""

USES = (
    "bool(o)", "len(o)", "o == 1", "o != o", "1 in (o, 2)", "o in (1, 2)", "1 in o", "hash(o)", "{o: 1}", "{o}",
    "set([o])", "f'{o}'", "f'{o!r}'", "'{}'.format(o)", "'%s' % o", "str(o)", "repr(o)", "list(o)", "tuple(o)",
    "[*o]", "o.attr", "o.prop", "o.cached", "o.shape", "o.attr()", "getattr(o, 'attr', None)", "hasattr(o, 'attr')",
    "isinstance(o, int)", "isinstance(o, (list, float))", "isinstance(x, Classed)", "isinstance(o, Classed)",
    "issubclass(type(o), Classed)", "issubclass(int, Classed)", "isinstance(1.0, Classed)",
    "isinstance(o, collections.abc.Sequence)", "isinstance(o, Checked)", "type(o)", "o.__class__", "callable(o)",
    "np.sum(o)", "np.add(o, 1.0)", "np.asarray(o)", "np.array([o, 1.0], dtype=object)", "np.shape(o)", "np.ndim(o)",
    "np.where(o, 1.0, 2.0)", "np.zeros(3, dtype=o)", "np.dtype(o)", "np.full(3, o)", "np.concatenate([o, x])",
    "np.dot(o, o)", "np.isscalar(o)", "np.iterable(o)", "np.iscomplexobj(o)", "np.copy(o)", "np.exp(o)", "float(o)",
    "int(o)", "complex(o)", "operator.index(o)", "o()", "o(x)", "o[0]", "o['a']", "x[o]", "x[:o]", "o + 1", "1 + o",
    "o * o", "x * o", "o @ x", "x == o", "-o", "abs(o)", "round(o)", "divmod(o, 1)", "pow(o, 2)", "o < 1",
    "min(o, 1)", "max([o, 1])", "sum([o])", "sum(o)", "any(o)", "all([o, 1])", "sorted([o, o])", "sorted(o)",
    "reversed(o)", "enumerate(o)", "list(zip(o, o))", "list(map(abs, o))", "iter(o)", "next(o)", "dir(o)", "vars(o)",
    "not o", "o and 1", "1 if o else 2", "o is None", "range(o)", "[1.0] * o", "'a' * o", "math.sqrt(o)",
    "math.floor(o)", "D.get(o)", "slice(o)", "copy.copy(o)", "copy.deepcopy(o)", "inspect.signature(o)",
    "inspect.getattr_static(o, 'attr', None)", "functools.partial(o)()", "(lambda a=o: a)()", "[v for v in o]",
    "{'k': o}['k']", "o.upper()", "o.get('a')", "o.sum()", "type(o).attr", "o.a.b",
    "for v in o:\n    pass", "while o:\n    break", "assert o", "if o:\n    pass", "o.attr = 1", "o[0] = 1",
    "del o.attr", "with o:\n    pass", "a, *b = o", "x[o] = 1.0",
    "match o:\n    case Loud(attr=1):\n        pass\n    case [1, 2]:\n        pass\n    case {'a': 1}:\n        pass",
    "try:\n    o.nothing\nexcept AttributeError:\n    pass", "l = [o]\nl.sort()", "d = {}\nd[o] = 1",
)
"""What a program does with an object."""

ACTS = (
    "np.ones(3).tofile(PATH)", "np.ones(3).dump(PATH)", "K.tofile(PATH)", "np.ndarray.dump(K, PATH)",
    "np.save(PATH, K)", "np.savez(PATH, K)", "np.savetxt(PATH, K)", "np.memmap(PATH, mode='w+', shape=(3,))",
    "open(PATH, 'w')", "os.remove(PATH)", "os.truncate(PATH, 0)", "shutil.rmtree(FOLDER)",
    "pathlib.Path(PATH).write_text('a')", "PATH_OBJECT.unlink()", "os.mkdir(FOLDER + '/made')",
    "subprocess.run(['touch', FOLDER + '/made'])", "scipy.io.savemat(PATH, {'a': K})",
    "np.array2string(K, formatter={'float': record})", "np.array_repr(OARRAY)", "np.set_printoptions(precision=1)",
    "np.info('sum')", "sorted([3, 1], key=record)", "sorted([3.0, x[0]], key=record)", "min([1, 2], key=record)",
    "max(1, 2, key=record)", "list(map(record, [1, 2]))", "list(filter(record, [1, 2]))",
    "functools.reduce(record, [1, 2])", "np.piecewise(K, [K > 0], [record])", "np.piecewise(x, [x > 0], [record])",
    "np.apply_along_axis(record, 0, K)", "np.apply_along_axis(record, 0, x)", "np.apply_over_axes(record, K, [0])",
    "np.frompyfunc(record, 1, 1)(K)", "UFUNC(K)", "UFUNC(x)", "UFUNC(1.0)", "UFUNC2(1.0, 2.0)", "UFUNC2.reduce(K)",
    "UFUNC2.outer(K, K)", "VECTORIZED(K)", "VECTORIZED(x)", "np.vectorize(record)(K)",
    "np.fromfunction(record, (2, 2))", "np.fromiter(GENERATOR, float)", "np.array(list(generated()))",
    "list(GENERATOR)", "next(GENERATOR)", "next(COUNT)", "sum(GENERATOR)", "cached_name(3)", "cached_number(3)",
    "METHOD(LOUD)", "operator.attrgetter('prop')(DESCRIBED)", "operator.itemgetter(0)(LOUD)", "PARTIAL()",
    "generic(1.0)", "generic(LOUD)", "record()", "Color(5)", "Color.RED.shade", "Parametrised[int]",
    "np.random.seed(1)", "np.random.rand(3)", "np.random.normal()", "RNG.normal()", "RNG.shuffle([1, 2])",
    "PYTHON_RNG.random()", "random.random()", "np.seterr(all='raise')", "np.setbufsize(16384)",
    "warnings.warn('loud')", "warnings.simplefilter('error')", "print('loud')", "sys.stdout.write('loud')",
    "logging.warning('loud')", "importlib.import_module('lazy_module')", "loud_module.missing",
    "getattr(loud_module, 'missing', None)", "hasattr(loud_module, 'missing')", "exec('record()')",
    "setattr(HOLDER, 'z', 1.0)", "vars(HOLDER).update(z=1)", "sys.exit(1)", "os._exit(3)", "K.sort()", "K.fill(3.0)",
    "K.setflags(write=False)", "np.put(K, [0], 9.0)", "np.add.at(K, [0], 9.0)", "np.add(K, 1.0, out=K)",
    "np.cumsum(K, out=K)", "np.place(K, K > 1, [7.0])", "np.nan_to_num(K, copy=False)", "D.update(b=1.0)",
    "D.clear()", "L.append(1.0)", "L.sort(key=record)", "','.join(generated())", "','.join(LLIST)",
    "'{0.prop}'.format(DESCRIBED)", "'{:{}}'.format(1.0, LOUD)", "'%(a)s' % {'a': LOUD}", "format(LOUD, 'd')",
    "scipy.optimize.brentq(record, 0.0, 1.0)", "scipy.integrate.quad(record, 0.0, 1.0)", "np.pad(K, 1, record)",
    "np.einsum('i->', OARRAY)", "np.sum(LARRAY)", "LARRAY * 2.0", "x + OARRAY", "np.dtype([('a', LOUD)])",
    "list(itertools.accumulate([1, 2], record))", "math.fsum(generated())", "json.dumps(1.0, default=record)",
    "collections.defaultdict(record)[1]", "list(iter(record, 0.0))", "np.histogram(K, bins=LOUD)",
    "with manager():\n    pass", "with manager(False):\n    pass", "with np.errstate(all='raise'):\n    y = 1.0",
    "import lazy_module", "from lazy_module import value", "import lazy_package.inner",
    "def inner(a=record()):\n    return a\ninner()", "@record\ndef inner(a):\n    return a",
    "for v in generated():\n    pass", "for v in map(record, [1.0, 2.0]):\n    pass",
    "for v in itertools.count():\n    break", "try:\n    raise ValueError\nexcept (ValueError, record()):\n    pass",
    "y = x if record() else K", "while record():\n    break", "y = [record(v) for v in (1, 2)]", "K[0] = 5.0",
    "K += 1.0", "D['z'] = 1.0", "assert x[0] > 1e30, record()",
)
"""What runs functions of the program, writes files, or changes settings and data."""

PLACES = {
    "live": "def {name}(x):\n{statement:4}\n    return np.sum(x * x)\n",
    "dead": "def {name}(x):\n    if x[0] > 1e9:\n{statement:8}\n    return np.sum(x * x)\n",
    "tried": "def {name}(x):\n    try:\n{statement:8}\n    except ValueError:\n        x = x * 1.0\n"
             "    return np.sum(x * x)\n",
    "helper": "def {name}_inner(x):\n{statement:4}\n    return 1.0\n\n\ndef {name}(x):\n    k = 1.0\n"
              "    if x[0] > 1e9:\n        k = {name}_inner(np.ones(3))\n    return np.sum(x * x) * k\n",
    "loop": "def {name}(x):\n    for i in range(3):\n        if x[0] > 1e9:\n{statement:12}\n"
            "    return np.sum(x * x)\n",
}
"""Where a statement stands: where it runs, where it never does, in a ``try``, a function that is called, a loop."""

HEAD = '''import collections.abc, contextlib, copy, functools, importlib, inspect, itertools, json, logging, math
import operator
import os, pathlib, random, shutil, subprocess, sys, typing, warnings
import numpy as np, scipy.integrate, scipy.io, scipy.optimize
import loud_module
from tests.purity.tripwires import *

FOLDER = {folder!r}
PATH = FOLDER + "/kept"
PATH_OBJECT = pathlib.Path(PATH)


@typing.runtime_checkable
class Checked(typing.Protocol):
    def attr(self): ...


'''


def statements() -> Iterator[str]:
    """Every use of every object, and every act."""
    for use in USES:
        for name in OBJECTS:
            yield _as_statement(re.sub(r"\bo\b", name, use))
    for act in ACTS:
        yield _as_statement(act)


def _as_statement(text: str) -> str:
    return f"y = {text}" if isinstance(ast.parse(text).body[0], ast.Expr) else text


def module(folder: str, share: int, number: int) -> tuple[str, dict[str, str]]:
    """The text of a module with one part in ``share`` of all programs, and what each of its functions is made of."""
    parts, made = [HEAD.format(folder=folder)], {}
    programs = ((s, place) for s in statements() for place in PLACES)
    for k, (statement, place) in enumerate(programs):
        if k % share != number:
            continue
        name = f"f{k}"
        text = re.sub(r"\{statement:(\d+)\}", lambda m, s=statement: textwrap.indent(s, " " * int(m[1])), PLACES[place])
        parts.append(text.replace("{name}", name))
        made[name] = f"{place}: {statement}"
    return "\n\n".join(parts), made
