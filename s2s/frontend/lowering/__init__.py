"""The parts of the lowering: libcst's tree in, the named form out. ``s2s.frontend.lower`` is the entrance.

In reading order: ``context`` (what the parts share), ``bindings`` (which names a body binds), ``functions``,
``statements`` with ``assignments``, ``exceptions`` (``with`` and ``try``), ``matching`` and ``patterns`` (``match``)
and ``imports``, then ``expressions`` with ``calls``, ``displays``, ``comprehensions`` and ``strings``; ``refusals``
says what is not supported, ``places`` finds where each node stands in the text.
"""
