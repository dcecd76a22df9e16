"""What is written down of a version: what was folded in, and the packages whose code has gone into it."""

import json
import types

import numpy as np
import pytest
import scipy

from s2s.core.const import Const
from s2s.specialize import version_facts
from s2s.versions.fingerprints import fingerprint
from s2s.versions.guards import ClassGuard, ObjectGuard
from s2s.versions.request import Dependency


def test_the_versions_of_other_packages_are_written_down():
    def of(module):
        return types.FunctionType((lambda: None).__code__, {"__name__": module})

    inlined = {of(name): None for name in ("own.inner", "scipy.special", "json.decoder", "absent.inner", "__main__")}
    specializer = types.SimpleNamespace(inliner=types.SimpleNamespace(dependencies=inlined))
    imports = {"np": "numpy", "rt": "s2s.runtime", "raises": "pytest.raises", "linalg": "scipy.linalg"}
    found = [*version_facts._packages(specializer, of("own.outer"), imports)]
    assert [(d.root, d.path) for d in found] == [("version", ("pytest",)), ("version", ("scipy",))]
    assert pytest.__version__ in found[0].fingerprint and scipy.__version__ in found[1].fingerprint


def scaled(x):
    return 2.0 * x


def test_what_another_process_compares_is_written_down():
    """Of what nobody replaces in a program there is a mark, where it is in a module; of the code of a function nothing
    beside the function; of rules nothing."""
    owner, fn = types.FunctionType(scaled.__code__, {"__name__": "absent"}), scaled
    value = Const(scaled)
    guards = [
        ObjectGuard("module", ("numpy", "sin"), np.sin, late=True),
        ObjectGuard("global", ("np", "cos"), np.cos, late=True),
        ObjectGuard("module", ("json", "dumps"), json.dumps),
        ObjectGuard("global", ("scaled",), scaled),
        ObjectGuard("global", ("scaled", "__code__"), scaled.__code__),
        ObjectGuard("global", ("other", "__code__"), scaled.__code__),
        ObjectGuard("global", ("scaled",), scaled, scaled),
        ObjectGuard("global", ("scaled",), scaled, owner),
        ObjectGuard("value", (value, "__code__"), scaled.__code__, found=("rule", (), None)),
        ObjectGuard("value", (value, "__doc__"), None, found=("global", ("scaled",), None)),
        ClassGuard(dict, "get", True),
    ]
    specializer = types.SimpleNamespace(guards=guards, inliner=types.SimpleNamespace(dependencies={}))
    assert [*version_facts.dependencies(specializer, fn, {})] == [
        Dependency("stable", ("numpy", "sin"), "numpy:sin"),
        Dependency("import", ("json", "dumps"), fingerprint(json.dumps)),
        Dependency("global", ("scaled",), fingerprint(scaled)),
        Dependency("global", ("other", "__code__"), fingerprint(scaled.__code__)),
        Dependency("import", (__name__, "scaled"), fingerprint(scaled)),
        Dependency("global", ("scaled",), ""),
        Dependency("global", ("scaled", "__doc__"), fingerprint(None)),
    ]


def test_imports_are_found_by_module_and_name():
    assert version_facts.import_path("numpy.linalg") == "numpy.linalg"
    assert version_facts.import_path("numpy.linalg.norm") == "numpy.linalg:norm"
