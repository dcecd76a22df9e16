"""Loops that several threads share: the names that they leave behind, and what is shared out."""

import ast
import ctypes
import inspect
import math

import numpy as np
import pytest

pytest.importorskip("numba")

import llvmlite.binding
import llvmlite.ir

from s2s.backends.numba import shares, sharing
from s2s.backends.numba.number_kinds import Kinds, kind_of_value


def function(text):
    """Parse a function."""
    return ast.parse(text).body[0]


def test_names_that_are_read_after_a_loop():
    node = function(
        "def f(x, q, c, z):\n"
        "    if c:\n"
        "        t = q\n"
        "        for i in x:\n"
        "            z = z + i\n"
        "        t = t + 1.0\n"
        "    z = t * x\n"
        "    return z + t"
    )
    inner = node.body[0].body[1]
    assert sharing._read_after(node, inner) == {"t", "x"}
    assert sharing._read_after(node, function("for i in x: pass")) >= {"q", "c"}
    outer = function("def f(x, q):\n    while q:\n        for i in x:\n            y = i\n        q = y\n    return y")
    assert sharing._read_after(outer, outer.body[0].body[0]) == {"q", "x", "y"}


@pytest.mark.parametrize("returned, count", [(3, 3), (2**40 + 5, 5), (2**32 - 1, -1)])
def test_the_number_of_threads_is_asked_for_by_name(returned, count):
    """The function gives an int of C: what is in the rest of a register is noise."""
    result, generate = shares.count_threads._defn(None)
    size = llvmlite.ir.IntType(result.return_type.bitwidth)
    module = llvmlite.ir.Module()
    function = llvmlite.ir.Function(module, llvmlite.ir.FunctionType(size, []), "asked")
    builder = llvmlite.ir.IRBuilder(function.append_basic_block())
    first, second = (generate(None, builder, None, ()) for _ in range(2))
    builder.ret(builder.sub(builder.add(first, first), second))
    made = llvmlite.binding.parse_assembly(str(module))
    made.verify()
    assert [f.name for f in made.functions if f.is_declaration] == ["get_num_threads"]
    machine = llvmlite.binding.Target.from_default_triple().create_target_machine()
    with llvmlite.binding.create_mcjit_compiler(made, machine) as engine:
        there = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: returned)
        engine.add_global_mapping(
            made.get_function("get_num_threads"), ctypes.cast(there, ctypes.c_void_p).value)
        engine.finalize_object()
        assert ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address("asked"))() == count


# Adjoint loops as they are written, with what their arguments are.


def of_a_sum(w, t):
    w_bar = np.zeros(30)
    s_bar = 0.5
    for i in range(len(w)):
        s_bar += w[i] * t[i]
        w_bar[i] = w[i] * 3.0
    return np.append(w_bar, s_bar)


def of_neighbours(w, t):
    w_bar = np.zeros(30)
    for i in range(1, len(w) - 1):
        w_bar[i - 1] += w[i] * 2.0
        w_bar[i + 1] += w[i]
    return w_bar


def of_any_place(w, k):
    t_bar = np.zeros(5)
    for i in range(len(w)):
        t_bar[k[i]] += w[i]
    return t_bar


def of_the_item_before(w, t):
    w_bar = np.ones(30)
    for i in range(1, len(w)):
        w_bar[i] = w_bar[i - 1] * w[i]
    return w_bar


def of_an_argument(w, t):
    for i in range(len(w)):
        w[i] = w[i] * 2.0
    return w


W, T, PLACES = np.arange(30.0) + 0.5, np.arange(30.0) - 2.0, np.arange(30) ** 2 % 5

SHARED = {
    of_a_sum: (T, (["s_bar"], [], 0)), of_neighbours: (T, ([], [], 2)), of_any_place: (PLACES, ([], ["t_bar"], 0)),
    of_the_item_before: (T, None), of_an_argument: (T, None),
}


def static(e):
    """What an expression is wherever the function is called."""
    names = {"np": np, "math": math, "len": len, "range": range, "print": print, "abs": abs, "floor": math.floor}
    return eval(ast.unparse(e), names) if ast.unparse(e).split(".")[0] in names else None


@pytest.mark.parametrize("call, is_shared", [
    ("math.sin(w[i])", True), ("floor(w[i])", True), ("np.sin(w[i])", True), ("abs(w[i])", True), ("len(w)", True),
    ("np.linalg.norm(w)", True), ("np.sum(np.zeros(i))", True), ("np.sum(np.ones_like(w))", True),
    ("print(i)", False), ("other(w[i])", False), ("np.random.rand()", False), ("np.sin(w, out=t)[i]", False),
    ("np.sin(w[i], **k)", False), ("np.put(w, 0, i)", False), ("w.sum()", False), ("math.fsum([w[i]])", True),
])
def test_calls_in_loops_that_are_shared(call, is_shared):
    """They change nothing but what they give."""
    text = f"def f(w, t):\n    y = np.zeros(30)\n    for i in range(len(w)):\n        y[i] = {call}\n    return y"
    node = function(text)
    kinds = Kinds(node.body, {"w": kind_of_value(W), "t": kind_of_value(T)}, static)
    found = sharing.sharing_of(node.body[1], node, kinds, static)
    assert (found is not None) is is_shared


@pytest.mark.parametrize("f", SHARED, ids=lambda f: f.__name__)
def test_parts_of_a_loop_give_what_the_loop_gives(f):
    """Python runs the parts, one after the other."""
    other, expected = SHARED[f]
    node, parameters = function(inspect.getsource(f)), inspect.signature(f).parameters
    loop = next(s for s in node.body if isinstance(s, ast.For))
    kinds = Kinds(node.body, dict(zip(parameters, map(kind_of_value, (W, other)))), static)
    found = sharing.sharing_of(loop, node, kinds, static)
    assert (found and (found.sums, found.added, found.reach)) == expected
    if found is None:
        return
    known = {"np": np}

    def defined(part):
        exec(ast.unparse(part), known)
        return known[part.name]

    shares.split(node, [(loop, found)], known, defined)
    (count,) = [name for name, value in known.items() if value is shares.count_threads]
    exec(ast.unparse(node), known)
    for threads in (1, 2, 3):
        known[count] = lambda threads=threads: threads
        np.testing.assert_allclose(known[f.__name__](W, other), f(W, other), rtol=1e-14)
