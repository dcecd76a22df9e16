"""Captures: refuse functions made in a loop that outlive the trip and read what the next trip changes.

Python binds captured variables late: ``[lambda: k for k in range(3)]`` are three functions that all see the last ``k``.
The compiler inlines calls of nested functions with the captures as they are where the function was made, which is the
same only while none of them changes.
"""

from __future__ import annotations

from s2s import ir, ops
from s2s.errors import error

_KEEPS = (ops.append, ops.make_list, ops.make_tuple, ops.make_dict, ops.make_set, ops.put, ops.add_to_set)


def check_captures(function: ir.Function) -> ir.Function:
    """The function, if no nested function in it is kept beyond the trip whose variables it reads."""
    for statement in ir.walk(function.body):
        match statement:
            case ir.For(item=item, body=body, carried=carried):
                _check_loop(body, {item, *(c.param for c in carried)})
            case ir.While(body=body, carried=carried):
                _check_loop(body, {c.param for c in carried})
            case ir.Let(_, ir.MakeFunction(inner)):
                check_captures(inner)
            case _:
                pass
    return function


def _check_loop(body: ir.Block, changing: set[ir.Var]) -> None:
    changing |= {v for s in ir.walk(body) for v in ir.defs_of(s)}
    made = {
        s.target: s
        for s in ir.walk(body)
        if isinstance(s, ir.Let) and s.target and isinstance(s.value, ir.MakeFunction) and _reads(s.value, changing)
    }
    if not made:
        return
    kept = {a for a in body.yields if a in made}
    for s in ir.walk(body):
        if isinstance(s, ir.Let) and isinstance(s.value, ir.Call) and s.value.fn in [ir.Const(f) for f in _KEEPS]:
            kept |= {a for a in ir.atoms_of(s.value) if a in made}
        if isinstance(s, ir.Store):
            kept |= {a for a in (s.value,) if a in made}
    for atom in kept:
        let = made[atom]  # type: ignore[index]
        assert isinstance(let.value, ir.MakeFunction)
        name = next(c for c in let.value.captures if c in changing)
        raise error(
            "S2S205", span=let.span, name=name.name if isinstance(name, ir.Var) else "",
            hint="bind the value as a default, `lambda x, k=k: ...`, or call the function in the same trip",
        )


def _reads(made: ir.MakeFunction, changing: set[ir.Var]) -> bool:
    return any(c in changing for c in made.captures)
