"""Random programs against central differences: ``python -m tests.fuzz --count 5000 --seed 7``.

``generate`` makes the source of a program from a seed, ``check`` says what s2s does with it (right, wrong,
crashed, refused, or no fit sample), ``shrink`` makes a failing program minimal. ``test_fuzz`` runs a fixed
300; ``test_found`` keeps what was found.
"""
