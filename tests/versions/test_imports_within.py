"""Functions that import modules which nobody has imported yet, some of which import each other."""

import sys

import pytest

import s2s


@pytest.fixture
def modules(tmp_path, monkeypatch):
    (tmp_path / "imports_the_second.py").write_text("import second_of_two\n\n\ndef square(x):\n    return x * x\n")
    (tmp_path / "second_of_two.py").write_text("FACTOR = 3.0\n\n\ndef scaled(x):\n    return FACTOR * x\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("imports_the_second", "second_of_two"):
        sys.modules.pop(name, None)


def by_name(x):
    from imports_the_second import square
    from second_of_two import scaled

    return square(x) * scaled(x)


def whole(x):
    import imports_the_second
    import second_of_two

    return imports_the_second.square(x) * second_of_two.scaled(x)


@pytest.mark.parametrize("recorded", ["0", "1"])
@pytest.mark.parametrize("f", [by_name, whole])
def test_an_import_may_import_what_the_next_one_imports(f, recorded, modules, monkeypatch):
    monkeypatch.setenv("S2S_RECORDED", recorded)
    gradient = s2s.grad(f)
    assert gradient(2.0) == 36.0
    assert gradient(1.0) == 9.0  # in the version that knows the modules
