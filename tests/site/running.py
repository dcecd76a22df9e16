"""Run a page of the documents as a reader would, and compare what is printed with what the page shows.

- The ``python`` blocks of a page are one program, pasted one after the other into a file named as the page. One that
  begins with a comment that is the name of a file, ``# model.py``, is that file and is not run.
- The lines of a ``console`` block that begin with ``$`` are commands, run in the folder of these files.
- What a ``python`` block prints stands in the next block, where that is a ``text`` block or has ``<!-- prints -->``
  above it. A line with nothing but ``...`` there stands for any lines.
- Blocks in other languages are not run.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import types
from dataclasses import dataclass, replace

from click.testing import CliRunner

FENCE = re.compile(r"(?P<mark><!-- prints -->\n+)?^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.M | re.S)
FILE = re.compile(r"# ([\w/.]+\.(?:py|yml|toml))\n")
ELLIPSIS = "..."


@dataclass
class Block:
    language: str
    code: str
    start: int
    end: int
    is_output: bool


def blocks(text):
    """The fenced blocks of a page, in order; ``start`` and ``end`` are those of the code in the text."""
    found = []
    for match in FENCE.finditer(text):
        block = Block(match["language"], match["code"], match.start("code"), match.end("code"), bool(match["mark"]))
        if block.language == "text" and found and found[-1].language == "python" and not found[-1].is_output:
            block.is_output = not FILE.match(found[-1].code)
        found.append(block)
    return found


def run(text, name, folder):
    """The page with what comes out in the place of what it shows, and the names of its program."""
    found, places = blocks(text), {}
    for block in found:
        if not block.is_output and (file := FILE.match(block.code)):
            path = folder / file[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
    program = folder / f"{name}.py"
    programs = [b for b in found if b.language == "python" and not b.is_output and not FILE.match(b.code)]
    program.write_text("\n\n".join(b.code for b in programs), encoding="utf-8")
    module = types.ModuleType(name)
    module.__file__ = str(program)
    sys.modules[name] = module  # as the file would be, had it been imported
    above = 0
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block.language == "console":
            places[block.start] = replace(block, code=session(block.code, folder))
        elif any(block is b for b in programs):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * above + block.code, str(program), "exec"), module.__dict__)
            above += block.code.count("\n") + 2
            shown = shortened(printed.getvalue(), folder)
            is_shown = following is not None and following.is_output
            assert is_shown or not shown, f"{name}: nothing shows that this prints\n{shown}"
            if is_shown:
                places[following.start] = replace(following, code=with_ellipses(following.code, shown))
    for block in sorted(places.values(), key=lambda b: -b.start):
        text = text[: block.start] + block.code + text[block.end :]
    return text, module.__dict__


def session(code, folder):
    """The commands of a block with what they print."""
    shown = []
    for command in re.findall(r"^\$ (.*)$", code, re.M):
        program, *words = shlex.split(command)
        if program == "s2s":
            from s2s.cli.main import main

            output = CliRunner().invoke(main, words).output
        else:
            assert program == "python", f"{program} is not run here: its block is no console block"
            settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "S2S_RECORDED": "0"}
            output = subprocess.run(
                [sys.executable, *words], cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, check=False,
            ).stdout
        shown.append(f"$ {command}\n{shortened(output, folder)}")
    whole = "\n".join(shown)
    return with_ellipses(code, whole)


def shortened(text, folder):
    """Text without the path of the folder, and without spaces at the ends of lines."""
    lines = [line.rstrip() for line in text.replace(f"{folder}/", "").splitlines()]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


def with_ellipses(shown, printed):
    """What is printed; or what is shown, where that is the same but for lines that it leaves out."""
    if ELLIPSIS not in shown.splitlines():
        return printed
    parts = shown.split(f"{ELLIPSIS}\n")
    return shown if re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, parts)), printed) else printed
