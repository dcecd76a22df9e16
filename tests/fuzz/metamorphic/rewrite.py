"""A subject and a seed go in, the text of a rewritten module comes out: ``rewritten(subject, seed)``."""

import ast
import random
import warnings

from tests.fuzz.metamorphic import expressions, functions, statements  # noqa: F401  they register their rewrites
from tests.fuzz.metamorphic.tools import PREAMBLE, REWRITES, Site

MOST = 4
ATTEMPTS = 12


def rewritten(subject, seed, only=None):
    """The text, and the names of the rewrites in it; no names where none applies. ``only`` names the ones to take."""
    rng = random.Random(f"{subject.name} {seed}")
    wanted = rng.choice((1, 1, 2, 3, MOST))
    names = list(only or REWRITES)
    weights = [REWRITES[name][1] for name in names]
    text, done = subject.text, []
    site = None
    for _ in range(ATTEMPTS):
        if len(done) == wanted:
            break
        module = ast.parse(text)
        tree = rng.choice([node for node in module.body if isinstance(node, ast.FunctionDef)])
        site = Site(tree, rng) if site is None else Site(tree, rng, site.count)
        name = rng.choices(names, weights)[0]
        if REWRITES[name][0](site):
            changed = ast.unparse(ast.fix_missing_locations(module))
            if compiles(changed):
                text = changed
                done.append(name)
    return PREAMBLE + text, tuple(done)


def compiles(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            compile(text, "<rewritten>", "exec")
        except SyntaxError:
            return False
    return True
