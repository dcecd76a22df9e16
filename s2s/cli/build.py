"""``s2s build``: packages, folders and files in, modules of adjoints beside the sources out.

Beside ``model.py`` comes ``model_adjoints.py``, for people and for version control. The versions go to the cache folder
beside the source as well, where the derivatives find them on their first call, as long as nothing that they rely on has
changed; so a second build compiles only what has. Where that folder is not, they find them in the module.
"""

from __future__ import annotations

import ast
import difflib
import io
import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from s2s.cache import committed
from s2s.cache.committed import SUFFIX
from s2s.cli.dump import Asked, for_callers, merged, text_of, version_for, what_to_say, written_for
from s2s.cli.loading import CannotLoad, Loaded, load_all, module_from, spec_of
from s2s.cli.terminal import formatted_or_told
from s2s.core.hashes import new_hash
from s2s.core.lines import lines_of
from s2s.core.record import replace
from s2s.core.values import Unknown
from s2s.dispatch.version import Version, parameter_names, renamed_for
from s2s.errors import DifferentiationError
from s2s.shipping.gate import meaning
from s2s.sources import SECOND
from s2s.versions.signature import has_float
from s2s.versions.target import target_of

__all__ = [
    "SUFFIX", "Built", "build", "differences", "files_with_progress", "is_unknown", "is_up_to_date", "sources_of",
    "write_built",
]

MARK = "# s2s build: "

SHOWN_OF_DIFFERENCE = 12
"""So many lines of a diff tell why a file is out of date."""


@dataclass
class Built:
    """The module for one file: its text, and what is not in it, with the reason."""

    source: Path
    text: str
    count: int
    left_out: list[str]
    records: list[str]

    @property
    def file(self) -> Path:
        """Where the module is."""
        return self.source.with_name(f"{self.source.stem}{SUFFIX}.py")

    @property
    def digest(self) -> str:
        """What tells one text from another, however it is formatted."""
        return str(new_hash(self.text.encode()).hexdigest()[:16])


def sources_of(names: tuple[str, ...]) -> list[Path]:
    """The files of packages by name, of folders, and files, in order. Raises CannotLoad."""
    found: dict[Path, None] = {}
    for name in names:
        path = Path(name)
        if not path.exists():
            spec = spec_of(name) if name.replace(".", "").isidentifier() else None
            if spec is None or spec.origin is None:
                raise CannotLoad(f"{name}: there is no such file, folder or package")
            path = Path(spec.origin)
            path = path.parent if path.name == "__init__.py" else path
        files = sorted(filter(Path.is_file, path.rglob("*.py"))) if path.is_dir() else [path]
        found |= dict.fromkeys(f for f in files if not f.stem.endswith(SUFFIX) and "__s2scache__" not in f.parts)
    return [file for file in found if "s2s" in file.read_text(encoding="utf-8", errors="replace")]


def build(source: Path, modes: tuple[str, ...]) -> Built | None:
    """The module for the decorated functions of a file; None where it has none. Raises CannotLoad."""
    module, _ = module_from(source)
    parts, left_out, records = [], [], []
    try:
        found = load_all(str(source), module)
    except CannotLoad as problem:
        if "is decorated" in str(problem):
            return None
        raise
    for loaded in found:
        for mode in modes:
            try:
                with committed.left_alone():
                    version = version_for(loaded, Asked(mode=mode))
            except DifferentiationError as problem:
                left_out.append(f"{loaded.place}: {problem}")
                break
            if is_unknown(loaded, version):
                left_out.append(f"{loaded.place}: left out\n{what_to_say(loaded, '')}")
                break
            try:
                text = for_callers(loaded, Asked(mode=mode), version, text_of(version), by_position=True)
                parts.append(written_for(version, text, False))
            except (CannotLoad, DifferentiationError) as problem:
                left_out.append(f"{loaded.place}: {problem}")
                break
            records.append(_record(loaded, mode, version, text))
    return Built(source, merged(parts) if parts else "", len(parts), left_out, [*filter(None, records)])


def _record(loaded: Loaded, mode: str, version: Version, text: str) -> str:
    """What a version with this text for callers relies on; empty where the module does not have the code that runs."""
    target = target_of(loaded.function)
    if target is None or mode in SECOND or text_of(version) != version.compiled.text:
        return ""
    arguments = dict(zip(parameter_names(target.function), version.avals, strict=True))
    request = renamed_for(version.request, target, target.function)
    return committed.record(target.function, arguments, request, replace(version.compiled, text=text))


def is_unknown(loaded: Loaded, version: Version) -> bool:
    """Whether it is not known what a differentiated argument is."""
    avals = version.avals[1:] if loaded.is_method else version.avals
    return any(isinstance(aval, Unknown) and has_float(aval) for aval in avals)


def is_up_to_date(built: Built, is_check: bool = False) -> bool:
    """Whether the file there says what would be written, however it is formatted. A check lets it be that it was built
    by other versions of Python and NumPy."""
    if not built.text:
        return not built.file.exists()
    try:
        there = built.file.read_text(encoding="utf-8")
        is_same = meaning(there) == meaning(built.text)
    except (OSError, SyntaxError):
        return False
    is_ours = is_check or committed.records_in(there) == built.records
    return is_same and is_ours and f"{MARK}{built.digest}\n" in there


def differences(built: Built) -> list[str]:
    """The first lines in which the file there says something else than what would be written, as a unified diff; the
    comments where nothing else differs."""
    try:
        there = built.file.read_text(encoding="utf-8")
        is_same = meaning(there) == meaning(built.text)
    except (OSError, SyntaxError):
        return []
    own = there.partition(committed.HEAD)[0].partition(MARK)[2].partition("\n")[2]  # without what build says itself
    before, now = (
        _comments(text) if is_same else lines_of(ast.unparse(ast.parse(text))) for text in (own, built.text)
    )
    found = list(difflib.unified_diff(before, now, "there", "now", n=1, lineterm=""))
    left = len(found) - SHOWN_OF_DIFFERENCE
    return found if left <= 0 else [*found[:SHOWN_OF_DIFFERENCE], f"({left} more line{'s' * (left > 1)})"]


def _comments(text: str) -> list[str]:
    words = tokenize.generate_tokens(io.StringIO(text).readline)
    return [word.string for word in words if word.type == tokenize.COMMENT]


def write_built(built: Built) -> None:
    """Write the module, in one step; one that has nothing in it goes. Raises OSError."""
    if not built.text:
        built.file.unlink(missing_ok=True)
        return
    head = f"# Derivatives of the decorated functions of {built.source.name}, made by `s2s build`; do not edit.\n"
    text = formatted_or_told(f"{head}{MARK}{built.digest}\n\n{built.text}", built.file)
    text = committed.with_records(text, built.records)
    beside = built.file.with_name(f".{built.file.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(built.file)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(built.file)) from problem


def files_with_progress(files: list[Path], is_shown: bool) -> Iterator[Path]:
    """The files, with a bar on a terminal."""
    if not is_shown:
        yield from files
        return
    from rich.progress import track

    yield from track(files, description="building", transient=True)
