"""The page of environment variables has those that the code reads, and no others."""

import ast
import re

from tests.helpers import ROOT

PAGE = ROOT / "docs" / "environment.md"


OF_THE_C_LIBRARY = {"GLIBC_TUNABLES"}


def is_lookup(node):
    """Whether a node is ``os.environ.get(...)``, ``os.environ[...]`` or ``os.getenv(...)``."""
    if isinstance(node, ast.Call):
        asked = ast.unparse(node.func)
        return asked in ("os.environ.get", "os.environ.setdefault", "os.getenv", "environ.get")
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("os.environ", "environ")


def read_by_the_code():
    """Names that are looked up, and texts that are a name of ours: they go to a function that looks them up."""
    found = set()
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "s2s").rglob("*.py")]
    for text in texts:
        if "environ" not in text and "S2S_" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(re.findall(r"^S2S_[A-Z_]+$", node.value))
                found.update(re.findall(r"\b_S2S_[A-Z]+\b", node.value))  # of Click, in the text of the help
            elif is_lookup(node):
                key = node.args[0] if isinstance(node, ast.Call) else node.slice
                found |= {key.value} if isinstance(key, ast.Constant) else set()
    return found


def rows():
    return re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.M)


def test_every_variable_that_is_read_has_a_row():
    assert {"S2S_CACHE", "S2S_KEPT_MEMORY", "XDG_CACHE_HOME"} <= read_by_the_code()
    assert sorted(rows()) == sorted(read_by_the_code() - OF_THE_C_LIBRARY)


def test_variables_that_documents_name_have_a_row():
    documents = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {name for file in documents for name in re.findall(r"(?<!\w)S2S_[A-Z_]+[A-Z]", file.read_text("utf-8"))}
    assert named <= set(rows())


def test_variables_of_the_c_library_are_named():
    from s2s.dispatch import freed_memory

    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in {*freed_memory._OTHERS, *OF_THE_C_LIBRARY})
