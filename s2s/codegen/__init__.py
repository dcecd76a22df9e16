"""The parts of the emitter: SSA form in, Python source text out. ``s2s.codegen.emit`` is the entrance.

In reading order: ``code`` (what lies between SSA form and text), ``structure`` (SSA form to code: copies,
exits), ``effects`` (what may pass what), ``folding`` (temporaries into expressions), ``hiding`` (names that
nested functions hide), ``naming`` (out of SSA form), ``spelling`` (names for known objects), ``expressions`` and
``statements`` (code to ``ast``), ``flatten`` (too many levels of blocks), ``printing`` (``ast`` to text).
"""
