"""What guards a block: ``try``, ``with``, ``match``; and ``del``."""

import ast
import textwrap

from tests.fuzz.generate.base import FLOAT, writes
from tests.fuzz.generate.plain import Plain


class Guarded(Plain):
    """Writes guarded blocks."""

    @writes("statement", 6, "guarded")
    def attempt(self):
        """``try``: a handler reads nothing that the body assigns, because an exception may come at any place of it."""
        before, ends = dict(self.scope.variables), []
        start = len(self.lines)
        with self.block("try:"), self.scoped() as scope:
            if self.chance(0.5):
                self.carried()
            self.put(self.raising())
            left = self.body(2)
            inside = dict(scope.variables)
        unsure = assigned("\n".join(self.lines[start:])) if self.chance(0.9) else set()
        sure = {name: kind for name, kind in before.items() if name not in unsure}
        if FLOAT not in sure.values():
            sure = before
        for kind in self.rng.sample(self.EXCEPTIONS, self.rng.choice([1, 1, 2])):
            name = self.rng.choice(["", "", " as problem"])
            with self.block(f"except {kind}{name}:"), self.scoped(variables=dict(sure)) as scope:
                if not self.body(2):
                    ends.append(dict(scope.variables))
        if not left:
            with self.scoped(variables=inside) as scope:
                if self.chance(0.3):
                    with self.block("else:"):
                        left = self.body(2)
                if not left:
                    ends.append(dict(scope.variables))
        if self.chance(0.25):
            with self.block("finally:"), self.scoped(variables=dict(sure), in_loop=False):
                self.assign()
        kept = {n: k for n, k in ends[0].items() if all(end.get(n) == k for end in ends)} if ends else sure
        self.scope.variables = kept
        return False

    EXCEPTIONS = [
        "ZeroDivisionError", "ArithmeticError", "IndexError", "LookupError", "(IndexError, ValueError)", "ValueError",
        "Exception", "ImportError", "(ZeroDivisionError, LookupError, ValueError)", "(ArithmeticError, LookupError)",
        "AssertionError", "(AssertionError, ValueError)",
    ]

    def raising(self):
        """A statement that may raise."""
        ints = self.named("int") or ["n"]
        k, name = self.rng.choice(ints), self.fresh("r")
        forms = [
            f"{name} = {self.rng.randint(1, 5)} // ({k} % 3)", f"{name} = (1.5, 0.5)[{k} % 4] * {self.leaf()}",
            f"{name} = {self.leaf()} / ({k} - {self.rng.randint(0, 3)})",
            f"if {k} % 2 == {self.rng.randint(0, 1)}: raise ValueError('no')", f"import no_such_module_{name}",
            f"{name} = [{self.leaf()}, {self.leaf()}][{k} % 3]",
            f"assert {k} % 2 == {self.rng.randint(0, 1)}, ({self.leaf()}, {k})",
        ]
        return self.rng.choice(forms)

    @writes("statement", 2, "guarded")
    def managed(self):
        heads = ['with np.errstate(all="ignore"):', 'with np.errstate(over="ignore") as old, np.printoptions():']
        with self.block(self.rng.choice(heads)):
            return self.body(3)

    @writes("statement", 2, "guarded")
    def matched(self):
        """``match`` of an integer or of a pair."""
        before, ends, leaves = dict(self.scope.variables), [], []
        k = self.rng.choice(self.named("int") or ["n"])
        single = self.chance(0.5)
        self.put(f"match {k} % 4:" if single else f"match ({k} % 3, [{self.number(1)}, {self.number(1)}]):")
        self.indent += 1
        patterns = ["0", "1 | 2", f"m if {self.test()}", "int(m)"]
        pairs = ["(0, [u, w])", "(1 | 2 as m, [u, *w])", f"(m, [u, _]) if {self.test()}", "[m, [w, u]]"]
        for pattern in self.rng.sample(patterns if single else pairs, 2):
            self.side(f"case {pattern}:", None, ends, leaves)
        self.side("case _:", None, ends, leaves)
        self.indent -= 1
        kept = {n: k for n, k in ends[0].items() if all(end.get(n) == k for end in ends)} if ends else {}
        self.scope.variables = {**before, **kept}
        return False

    @writes("statement", 1, "guarded")
    def deleted(self):
        name, target = self.fresh("t"), self.target(FLOAT)
        self.put(f"{name} = {self.number(2)}")
        self.put(f"{target} = {name} * {self.number(1)}")
        self.put(f"del {name}")
        self.bind(target, FLOAT)


def assigned(text):
    """The names that statements assign, functions inside them left out."""
    found, todo = set(), [ast.parse(textwrap.dedent(text) + "\nfinally:\n    pass")]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return found
