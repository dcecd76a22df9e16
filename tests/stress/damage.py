"""Damaged files of the disk cache: flipped bits and cut ends must never give a wrong gradient, nor end the process.

    python -m tests.stress.damage [--runs 200] [--seed 0]

A gradient is compiled and stored. Each run damages one of the files in a copy of its folder, and a process of its own
takes the gradient again, with the copy as its cache. Ends with an error where the numbers differ or the process fails.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = '''
import numpy as np
import s2s

def loss(x, n):
    total = 0.0
    for i in range(n):
        x = np.sin(x) * 1.5 if i % 2 else np.exp(-x)
        total += np.sum(x ** 3)
    return total

print(s2s.grad(loss)(np.linspace(0.1, 1.7, 5), 4).tolist())
'''


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, wrong = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.py").write_text(PROGRAM)
        whole = folder / "whole"
        right = run(folder, whole)
        assert right.returncode == 0, right.stderr
        assert run(folder, whole).stdout == right.stdout
        for _ in range(options.runs):
            copy = folder / "copy"
            shutil.copytree(whole, copy)
            file = chance.choice(sorted(copy.iterdir()))
            told = damage(file, chance)
            found = run(folder, copy)
            if (found.returncode, found.stdout) != (0, right.stdout):
                wrong += 1
                print(f"{told}: ended with {found.returncode}: {found.stdout.strip()} {found.stderr.strip()[-200:]}")
            shutil.rmtree(copy)
    print(f"{options.runs} damaged files, {wrong} wrong gradients or failures")
    return 1 if wrong else 0


def run(folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "S2S_CACHE": "1", "S2S_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(
        [sys.executable, str(folder / "model.py")], capture_output=True, text=True, env=environment
    )


def damage(file: Path, chance: random.Random) -> str:
    """Flip up to three bits of a file, or cut its end off; says what was done."""
    content = bytearray(file.read_bytes())
    if chance.random() < 0.1:
        length = chance.randrange(len(content))
        file.write_bytes(content[:length])
        return f"{file.suffix} cut to {length} bytes"
    places = [chance.randrange(8 * len(content)) for _ in range(chance.choice((1, 1, 1, 3)))]
    for place in places:
        content[place // 8] ^= 1 << place % 8
    file.write_bytes(content)
    return f"{file.suffix} with bits {places} flipped"


if __name__ == "__main__":
    sys.exit(main())
