"""The names of its module that a piece of code reads, beside those that its bytecode reads."""

import ast
import dis
import textwrap
import types

import pytest

from s2s.shipping.uses import bound_anywhere, bound_names, uses_of

FUNCTIONS = {
    "parameters": "def f(a, /, b, *rest, c, **named):\n    return a + b + c + one(rest) + two(named)",
    "defaults": "def f(a=one, *, b=two, c):\n    return a.one + b.two",
    "decorators": "@one(1)\n@two\ndef f(a):\n    return three(f, a)",
    "annotations": "def f(a: one) -> two:\n    b: three = four\n    c: five\n    return a, b",
    "bound in blocks": "def f(a):\n    if one:\n        b = 1\n    for c, (d, *e) in two:\n        pass\n"
                       "    with three as g:\n        del b\n    return a, b, c, d, e, g",
    "bound later": "def f():\n    b = one(c)\n    c = two\n    return b",
    "walrus": "def f(a):\n    return (b := one(a)) + b",
    "handlers": "def f(a):\n    try:\n        return one(a)\n    except two as problem:\n        return str(problem)",
    "imports": "def f(a):\n    import one.two\n    import three as four\n    from five import six, seven as eight\n"
               "    return one, four, six, eight, three, five, seven",
    "global": "def f(a):\n    global one\n    one = 3\n    return one + a",
    "inner functions": "def f(a, b=one):\n    def g(c=b, d=two):\n        return a + c + d + three + h\n    h = 1\n"
                       "    return g",
    "own names of inner functions": "def f(a):\n    def g():\n        b = 1\n        return b\n    return g() + b",
    "lambdas": "def f(a):\n    return (lambda c, *d, e=one, g, **h: a + c + d + e + g + h + two + i), c",
    "comprehensions": "def f(a):\n    return [b + one for b in a], {c: two for c in a}, {d for d in a if three(d)}, "
                      "(e * g for e in a for g in e), b",
    "first iterables": "def f(a):\n    return [one for one in one], {two: b for two in two(a) for b in two}, "
                       "[three for a in a for three in a], (c for d in (c for c in c) for c in d), five",
    "walrus in comprehensions": "def f(a):\n    c = [b := one(d) for d in a]\n    return b, d, c",
    "patterns of mappings": "def f(a):\n    match a:\n        case {'a': b, **c}:\n            return b, c, one\n"
                            "        case {two.three: 1, **d} if d:\n            return d",
    "patterns": "def f(a):\n    match a:\n        case [one.two, *b]:\n            return b\n"
                "        case three(x=c) as d:\n            return c, d\n        case g:\n            return g",
    "async": "async def f(a=one):\n    async for b in two(a):\n        await b\n    async def g():\n"
             "        return b, three",
    "inner classes": "def f(a):\n    class One(two):\n        b = a + three\n        def g(self):\n"
                     "            return One, b\n    return One",
    "attributes": "def f(a):\n    one.two.three = a.four\n    return five.six.seven(a)[eight.nine].ten, "
                  "(one + two).three",
}  # fmt: skip


def globals_of(code):
    found = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(globals_of(const) for const in code.co_consts if isinstance(const, types.CodeType)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_reads_what_its_bytecode_reads(name):
    text = FUNCTIONS[name]
    code = compile(f"from __future__ import annotations\n{text}", "<text>", "exec")
    expected = globals_of(code) - {"__name__"}
    classes = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
    assert {use.path[0] for use in uses_of(ast.parse(text))} == expected - classes


@pytest.mark.parametrize("text, paths", [
    ("np.linalg.inv(a)", [("np", "linalg", "inv"), ("a",)]), ("f(x).y.z", [("f",), ("x",)]),
    ("a[b].c", [("a",), ("b",)]),
    ("x.y = z", [("x", "y"), ("z",)]), ("x = y", [("y",)]), ("del x.y, z", [("x", "y")]),
    ("x.y: a.b = c", [("x", "y"), ("c",)]), ("x: a", []),
])
def test_paths_go_as_far_as_attributes_do(text, paths):
    found = [*uses_of(ast.parse(text))]
    assert [use.path for use in found] == paths
    for use in found:
        assert [ast.unparse(node) for node in use.nodes] == [".".join(use.path[: k + 1]) for k in range(len(use.path))]


CLASS = textwrap.dedent("""
    @one(1)
    class C(two.three, metaclass=four):
        a: five = six
        b = a
        c: seven

        @eight
        def f(self, d=b, *, e=nine):
            return a + self.b + ten

        class D(eleven):
            g = a
""")


def test_classes_read_bases_annotations_and_what_methods_read():
    """A name of a class body is seen in the body and in defaults of methods, not in methods."""
    found = {".".join(use.path) for use in uses_of(ast.parse(CLASS).body[0])}
    assert found == {"one", "two.three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "a"}
    assert "a" not in {use.path[0] for use in uses_of(ast.parse("class C:\n    a = 1\n    b = a"))}


def test_what_is_bound_around_is_not_read():
    tree = ast.parse("def f(a=b):\n    return [b + c for d in (lambda: e)()]")
    assert {use.path for use in uses_of(tree, frozenset("be"))} == {("c",)}


BLOCK = textwrap.dedent("""
    a = 1
    b, (c, *d) = e
    for f in g:
        with h as i:
            j: int = [k for k in l]
    def m(n):
        o = 1
    async def p():
        q = 1
    class R:
        s = 1
    import t.u, v as w
    from x import y, z as aa
    try:
        pass
    except ab as ac:
        pass
    match ad:
        case [ae, *af] as ag:
            pass
    lambda ah: (ai := 1)
    (aj := 2)
    del ak, al.am
    an.ao = ap[aq] = 1
""")


def test_a_block_binds_its_names_and_those_of_blocks_in_it():
    body = ast.parse(BLOCK).body
    own = set("abcdfijmpRtwy") | {"aa", "ac", "ae", "af", "ag", "aj", "ak"}
    assert bound_names(body) == own
    code = compile(BLOCK, "<block>", "exec")
    stored = {step.argval for step in dis.get_instructions(code) if step.opname in ("STORE_NAME", "DELETE_NAME")}
    assert own == {name for name in stored if not name.startswith("__")} - {"k"}
    node = ast.parse(f"def outer(first):\n{textwrap.indent(BLOCK, '    ')}").body[0]
    assert bound_anywhere(node) == own | {"first", "k", "n", "o", "q", "s", "ah", "ai"}
