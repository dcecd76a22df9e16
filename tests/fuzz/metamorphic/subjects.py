"""Functions with arguments that are rewritten: those of the bank, random programs, and bodies of libraries."""

import ast
import collections
import functools
import inspect
import math
import textwrap
import types
from dataclasses import dataclass, field

import numpy as np

from tests.fuzz.generate import program
from tests.fuzz.metamorphic import packages
from tests.helpers import active_positions, copy_tree

SOURCES = ("bank", "programs", "library")


@dataclass
class Subject:
    """The text of a module with one function or more, the name of the one that is differentiated, what the text finds
    as globals, and arguments."""

    name: str
    text: str
    function: str
    args: tuple
    scope: dict = field(repr=False)
    argnums: tuple = ()
    file: str = ""


def positions(args, argnums=None):
    found = active_positions(args) if argnums is None else argnums
    return found if isinstance(found, tuple) else (found,)


def subject_of(name, f, args, argnums=None):
    """The subject that a function makes; None where it is no plain function of a module with a text."""
    if not isinstance(f, types.FunctionType) or f.__closure__:
        return None
    try:
        module = ast.parse(textwrap.dedent(inspect.getsource(f)))
    except (OSError, TypeError, SyntaxError):
        return None
    if len(module.body) != 1 or not isinstance(module.body[0], ast.FunctionDef):
        return None
    tree = module.body[0]
    tree.decorator_list = []
    places = positions(args, argnums)
    if not all(isinstance(place, int) for place in places) or not places:
        return None
    return Subject(name, ast.unparse(tree), tree.name, args, f.__globals__, places, f.__code__.co_filename)


@functools.cache
def bank():
    from tests.bank import CASES

    made = [subject_of(case.name, case.f, case.args, case.argnums) for case in CASES if not case.kwargs]
    return [subject for subject in made if subject]


PROGRAM_GLOBALS = {"np": np, "math": math, "collections": collections, "types": types}


def of_program(seed):
    made = program(seed)
    args = copy_tree(made.samples[0])
    return Subject(f"program {made.kind} {seed}", made.text, "f", args, PROGRAM_GLOBALS, positions(args))


@functools.cache
def of_libraries():
    made = [subject_of(name, f, args) for name, f, args in packages.functions()]
    return [subject for subject in made if subject]


def subject(source, seed):
    """The subject of a seed."""
    if source == "programs":
        return of_program(seed)
    found = bank() if source == "bank" else of_libraries()
    return found[seed % len(found)]
