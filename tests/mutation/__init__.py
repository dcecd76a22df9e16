"""Mutation testing: one statement or expression of s2s is changed at a time, and a test must fail.

``operators`` says which changes there are, ``record`` which tests run which lines, ``session`` runs tests on one
mutant after another. ``python -m tests.mutation --help`` for how to run it, docs/reliability.md for what it found.
"""
