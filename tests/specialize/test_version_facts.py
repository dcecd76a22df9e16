"""What is written down of a version: the packages whose code has gone into it."""

import types

import pytest
import scipy

from s2s.specialize import version_facts


def test_the_versions_of_other_packages_are_written_down():
    def of(module):
        return types.FunctionType((lambda: None).__code__, {"__name__": module})

    inlined = {of(name): None for name in ("own.inner", "scipy.special", "json.decoder", "absent.inner", "__main__")}
    specializer = types.SimpleNamespace(inliner=types.SimpleNamespace(dependencies=inlined))
    imports = {"np": "numpy", "rt": "s2s.runtime", "raises": "pytest.raises", "linalg": "scipy.linalg"}
    found = [*version_facts._packages(specializer, of("own.outer"), imports)]
    assert [(d.root, d.path) for d in found] == [("version", ("pytest",)), ("version", ("scipy",))]
    assert pytest.__version__ in found[0].fingerprint and scipy.__version__ in found[1].fingerprint


def test_imports_are_found_by_module_and_name():
    assert version_facts.import_path("numpy.linalg") == "numpy.linalg"
    assert version_facts.import_path("numpy.linalg.norm") == "numpy.linalg:norm"
