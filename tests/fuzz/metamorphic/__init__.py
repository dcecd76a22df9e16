"""Rewrites that keep the value of a function must keep its derivatives: ``python -m tests.fuzz --kind metamorphic``.

``subjects`` are functions with arguments: those of the bank, random programs, and bodies of libraries. ``tools`` finds
the places in a syntax tree, ``expressions``, ``statements`` and ``functions`` change them, ``rewrite`` applies several
changes, and ``check`` holds the derivatives of what comes out against those of the function itself.
"""
