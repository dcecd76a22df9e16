"""Calls that the compiler refuses: recorded while they run, operation by operation, and swept back.

    watch     source text -> code that tells of each operation
    install   that code in the functions that run, for as long as a recording lasts
    operations  what watched code calls in place of ``a + b``, ``f(x)``, ``a[i]``: the operation, and a note of it
    recorder  which numbers and arrays depend on what is differentiated, by identity, and the steps between them
    memory    where an array lies in the memory that it is a view of
    sweeps    cotangents back, or tangents forward, over the steps
    entry     one derivative of one call

``docs/design/recorded.md`` says why.
"""
