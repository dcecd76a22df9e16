"""Random programs against central differences: ``python -m tests.fuzz --programs 5000 --seed 7``.

``generate`` makes the source of a program from a seed, ``primal`` says what is expected of it, ``check`` what s2s does
with it (right, wrong, crashed, refused, or no fit sample), ``shrink`` makes a failing program minimal. ``metamorphic``
rewrites functions without changing their value instead. ``test_fuzz`` and ``metamorphic/test_metamorphic`` run fixed
seeds; ``test_found`` keeps what was found.
"""
