"""Give variables versions: a function in named form without exits goes in; the same in SSA form comes out.

    y = a                              y.1 = if c:
    if c:                ->                y = mul(a, 2)
        y = mul(a, 2)                      yield y
    %1 = y                             else:
                                           yield a
                                       yield y.1

One walk in the order of execution keeps, for each variable of the named form, the atom that holds its value.
A copy only changes what is kept, so no copies remain. A branch or a loop hands on what it assigns and what is
read later, which liveness says.

*Names.* What is computed into a temporary and then copied into a user's variable takes the user's name at
once.

*Nested functions.* Python binds captured variables when the function runs. A function that is bound to one
name, once, is made anew where the name is read, with what its captured variables hold there. In its own
captures its own name holds ``UNDEFINED``: that a name among ``function.captures`` is the function's own says
that it is recursive. (Functions that call each other are not that lucky: the second sees ``UNDEFINED`` for
the first.)
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from s2s.core import ir, ops
from s2s.normalize.exits import is_endless
from s2s.normalize.liveness import Liveness, Statements, assigned

__all__ = ["to_ssa"]

_Out: TypeAlias = list[ir.Statement]


@dataclass(frozen=True, slots=True, eq=False)
class _Late:
    """What a variable holds that names a nested function: how to make the function.

    ``name`` is the variable that it was bound to first, under which it may capture itself. The defaults are
    SSA atoms; the captures are variables of the named form, to be looked up at each making.
    """

    name: ir.Var
    make: ir.MakeFunction


_Env: TypeAlias = dict[ir.Var, "ir.Atom | _Late"]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the walk knows of the whole function.

    What is read where, ``names`` that temporaries take from the user's variables, and the number of versions that each
    name has so far.
    """

    liveness: Liveness
    names: dict[ir.Var, str]
    versions: collections.Counter[str] = field(default_factory=collections.Counter)

    def fresh(self, var: ir.Var) -> ir.Var:
        """A new version for an assignment to ``var``."""
        return self._next(self.names.get(var, var.name))

    def temporary(self) -> ir.Var:
        """A new temporary that stands for no variable of the named form."""
        return self._next("%")

    def _next(self, name: str) -> ir.Var:
        self.versions[name] += 1
        return ir.Var(name, self.versions[name] - 1)


def to_ssa(function: ir.Function) -> ir.Function:
    """The function in SSA form, nested functions left as they are. What comes in yields one variable."""
    facts = _Facts(Liveness(function), _names_to_take(function.body))
    env: _Env = {}
    params = tuple(ir.replace(param, var=_bind(param.var, env, facts)) for param in function.params)
    captures = tuple(_bind(var, env, facts) for var in function.captures)
    live = {atom for atom in function.body.yields if isinstance(atom, ir.Var)}
    out, after = _rename(function.body.statements, env, live, facts)
    given = function.body.yields[0]
    if after is not None and _is_missing(given, after):
        out += _unbound(given, function.span, facts)
        after = None
    result = ir.UNDEFINED if after is None else _read(given, after, out, facts)
    body = ir.Block(tuple(out), (result,))
    return ir.replace(function, params=params, captures=captures, body=body)


def _bind(var: ir.Var, env: _Env, facts: _Facts) -> ir.Var:
    """The version of a variable that holds a value when the function starts."""
    new = env[var] = facts.fresh(var)
    return new


# --- names --------------------------------------------------------------------------------------------------


def _names_to_take(body: ir.Block) -> dict[ir.Var, str]:
    """The temporaries that are copied into a user's variable, with its name."""
    names: dict[ir.Var, str] = {}
    blocks = [body]
    while blocks:
        block = blocks.pop()
        _names_in_block(block.statements, names)
        blocks += [inner for statement in block.statements for inner in ir.blocks_of(statement)]
    return names


def _names_in_block(statements: Statements, names: dict[ir.Var, str]) -> None:
    first: dict[ir.Var, int] = {}
    copies: dict[ir.Var, ir.Atom] = {}
    end = max((k for k, statement in enumerate(statements) if _takes_temporary(statement)), default=-1) + 1
    for k, statement in enumerate(statements[:end]):
        match statement:
            case ir.Let(ir.Var() as target, ir.Var() as source) if (
                source in first and not target.is_temporary
            ):
                if not _is_read(target, statements[first[source] : k], copies):
                    names.setdefault(source, target.name)
            case ir.Let(ir.Var() as target, ir.Var() | ir.Const() as atom) if target.is_temporary:
                copies[target] = atom
        if not (isinstance(statement, ir.Let) and isinstance(statement.value, ir.Var)):
            for var in assigned(ir.Block((statement,))):
                if var.is_temporary:
                    first.setdefault(var, k)


def _takes_temporary(statement: ir.Statement) -> bool:
    """Whether a temporary is copied into a user's variable."""
    match statement:
        case ir.Let(ir.Var() as target, ir.Var() as source):
            return source.is_temporary and not target.is_temporary
    return False


def _is_read(var: ir.Var, between: Statements, copies: dict[ir.Var, ir.Atom]) -> bool:
    """Whether ``var`` is read after the first of these statements computed what will be its next value.

    The first may read it (``x = x + 1``, ``x = -x if x < 0 else x``), unless it is a loop.
    """
    first, *rest = between
    statements = list(ir.walk(ir.Block(tuple(rest if isinstance(first, ir.Let | ir.If) else between))))
    atoms = [atom for statement in statements for atom in ir.reads_of(statement)]
    return any(atom == var or (isinstance(atom, ir.Var) and copies.get(atom) == var) for atom in atoms)


# --- the walk -----------------------------------------------------------------------------------------------


def _read(
    atom: ir.Atom, env: _Env, out: _Out, facts: _Facts, own: frozenset[ir.Var] = frozenset()
) -> ir.Atom:
    """The atom that holds what ``atom`` holds here. ``own`` are the nested functions that are being made."""
    if isinstance(atom, ir.Const):
        return atom
    held = ir.UNDEFINED if atom in own else env.get(atom, ir.UNDEFINED)
    if isinstance(held, _Late):
        return _make(held, env, out, facts, own | {held.name})
    return held


def _make(late: _Late, env: _Env, out: _Out, facts: _Facts, own: frozenset[ir.Var]) -> ir.Var:
    """Make a nested function from what its captured variables hold here."""
    captures = tuple(_read(atom, env, out, facts, own) for atom in late.make.captures)
    function = late.make.function
    if late.name in late.make.captures:
        # A recursive lambda has to be known by the name that it captures.
        function = ir.replace(function, name=late.name.name)
    target = facts.temporary()
    out.append(ir.Let(target, ir.MakeFunction(function, captures, late.make.defaults), function.span))
    return target


def _rename(
    statements: Statements, env: _Env, after: set[ir.Var], facts: _Facts
) -> tuple[_Out, _Env | None]:
    """The statements in SSA form, and what the variables hold after them: None where the end is not reached.

    ``env`` is changed; ``after`` are the variables that are read later.
    """
    out: _Out = []
    afters = facts.liveness.lives(statements, after).afters
    for k, statement in enumerate(statements):
        live = afters.get(k, after)
        match statement:
            case ir.Let(value=value):
                own = _own_name(statement)
                missing = [a for a in ir.atoms_of(value) if a not in own and _is_missing(a, env)]
                if missing and not isinstance(value, ir.MakeFunction):
                    out += _unbound(missing[0], statement.span, facts)
                    return out, None
                _rename_let(statement, env, out, facts)
            case ir.Store(_, target, key, value):
                target, key, value = (_read(atom, env, out, facts) for atom in (target, key, value))
                was = None if statement.was is None else _read(statement.was, env, out, facts)
                out.append(ir.replace(statement, target=target, key=key, value=value, was=was))
            case ir.If():
                ends = _rename_if(statement, env, live, out, facts)
                if ends:
                    return out, None
            case ir.For() | ir.While():
                _rename_loop(statement, env, live, out, facts)
                if is_endless(statement) and statement.leave is None:
                    return out, None
            case ir.With(manager, target, body):
                manager = _read(manager, env, out, facts)
                if target is not None:
                    env[target] = target = facts.fresh(target)
                inner, end = _rename(body.statements, env, live, facts)
                out.append(ir.With(manager, target, ir.Block(tuple(inner)), span=statement.span))
                if end is None:
                    return out, None
            case ir.Try():
                if _rename_try(statement, env, live, out, facts):
                    return out, None
            case ir.Assert(test, problem):
                test = _read(test, env, out, facts)
                out.append(ir.Assert(test, _rename_problem(problem, env, facts), statement.span))
            case ir.Raise(exception, cause):
                read = [atom if atom is None else _read(atom, env, out, facts) for atom in (exception, cause)]
                out.append(ir.Raise(read[0], read[1], statement.span))
                return out, None
            case ir.Note():
                out.append(statement)
            case ir.Return() | ir.Break() | ir.Continue():
                raise AssertionError("exits are resolved before")
            case _:
                assert_never(statement)
    return out, env


def _is_missing(atom: ir.Atom, env: _Env) -> bool:
    """Whether a variable of the user's certainly has no value here."""
    if not isinstance(atom, ir.Var) or atom.is_temporary:
        return False
    found = env.get(atom, ir.UNDEFINED)
    return isinstance(found, ir.Const) and found == ir.UNDEFINED


def _unbound(atom: ir.Atom, span: ir.Span | None, facts: _Facts) -> _Out:
    """What reading a variable that has no value comes to."""
    text = f"cannot access local variable '{atom}' where it is not associated with a value"
    made = facts.temporary()
    return [ir.Let(made, ir.Call(ir.Const(UnboundLocalError), (ir.Const(text),)), span), ir.Raise(made, None, span)]


def _rename_let(statement: ir.Let, env: _Env, out: _Out, facts: _Facts) -> None:
    match statement:
        case ir.Let(None, ir.Var() | ir.Const()):
            pass
        case ir.Let(ir.Var() as target, ir.Var() as source) if target in facts.liveness.captures and source in env:
            env[target] = env[source]
        case ir.Let(ir.Var() as target, ir.Var() | ir.Const() as atom):
            env[target] = _read(atom, env, out, facts)
        case ir.Let(ir.Var() as target, ir.MakeFunction(_, _, defaults) as make) if target in facts.liveness.captures:
            read = tuple((name, _read(atom, env, out, facts)) for name, atom in defaults)
            env[target] = _Late(target, ir.replace(make, defaults=read))
        case ir.Let(target, value):
            own = _own_name(statement)
            renamed = ir.map_atoms(value, lambda atom: _read(atom, env, out, facts, own))
            new = None if target is None else facts.fresh(target)
            out.append(ir.Let(new, renamed, statement.span))
            if target is not None and new is not None:
                env[target] = new


def _own_name(statement: ir.Let) -> frozenset[ir.Var]:
    """The name that a nested function is bound to, under which it may capture itself."""
    is_named = isinstance(statement.value, ir.MakeFunction) and statement.target is not None
    return frozenset({statement.target}) if is_named else _NONE  # type: ignore[arg-type]


_NONE: frozenset[ir.Var] = frozenset()


def _rename_if(statement: ir.If, env: _Env, live: set[ir.Var], out: _Out, facts: _Facts) -> bool:
    """Put the ``If`` into ``out`` and its results into ``env``; true where no branch reaches its end."""
    test = _read(statement.test, env, out, facts)
    then, then_env = _rename(statement.then.statements, dict(env), live, facts)
    orelse, orelse_env = _rename(statement.orelse.statements, dict(env), live, facts)
    results, yields = _join_sides([(then, then_env), (orelse, orelse_env)], env, live, facts)
    then_block = ir.Block(tuple(then), tuple(pair[0] for pair in yields))
    orelse_block = ir.Block(tuple(orelse), tuple(pair[1] for pair in yields))
    out.append(ir.If(test, then_block, orelse_block, tuple(results), statement.span))
    return then_env is None and orelse_env is None


def _rename_problem(problem: ir.Block, env: _Env, facts: _Facts) -> ir.Block:
    """The exception of an ``Assert``, whose block nothing sees the end of."""
    inner = dict(env)
    out, end = _rename(problem.statements, inner, facts.liveness.read_by(problem.yields), facts)
    (given,) = problem.yields
    given = ir.UNDEFINED if end is None else _read(given, end, out, facts)
    return ir.Block(tuple(out), (given,))


def _rename_try(statement: ir.Try, env: _Env, live: set[ir.Var], out: _Out, facts: _Facts) -> bool:
    """Put the ``Try`` into ``out`` and its results into ``env``; true where no block reaches its end."""
    kinds = [tuple(_read(kind, env, out, facts) for kind in h.kinds) for h in statement.handlers]
    unsure = _unsure(statement.body.statements)
    body, end, held = _rename_body(statement, env, live, facts, unsure)
    sides: list[tuple[_Out, _Env | None]] = [([], None)]
    if end is not None:
        sides = [_rename(statement.orelse.statements, end, live, facts)]
    heads = []
    for handler in statement.handlers:
        inner = dict(env)
        at_start = facts.liveness.in_handler(handler, live)
        unassigned = tuple(
            ir.PossiblyUnassigned(facts.fresh(var), tuple(held[var])) for var in unsure if var in at_start)
        inner.update(zip((var for var in unsure if var in at_start), (v.param for v in unassigned), strict=True))
        name = None if handler.name is None else facts.fresh(handler.name)
        if handler.name is not None and name is not None:
            inner[handler.name] = name
        heads.append((name, unassigned))
        sides.append(_rename(handler.body.statements, inner, live, facts))
    results, yields = _join_sides(sides, env, live, facts)
    first, *blocks = [
        ir.Block(tuple(made), tuple(row[k] for row in yields)) for k, (made, _) in enumerate(sides)
    ]
    handlers = tuple(
        ir.Handler(kind, name, block, unassigned, handler.span)
        for handler, kind, (name, unassigned), block in zip(statement.handlers, kinds, heads, blocks, strict=True)
    )
    out.append(ir.Try(ir.Block(tuple(body)), handlers, first, tuple(results), span=statement.span))
    return all(side is None for _, side in sides)


def _rename_body(
    statement: ir.Try, env: _Env, live: set[ir.Var], facts: _Facts, watched: Iterable[ir.Var]
) -> tuple[_Out, _Env | None, dict[ir.Var, list[ir.Atom | None]]]:
    """The body of a ``Try`` in SSA form, what the variables hold after it, and for the watched ones what they hold
    while each of its statements runs."""
    lives = [facts.liveness.before(statement.orelse.statements, live)]
    for inner in reversed(statement.body.statements):
        lives.append(facts.liveness.before_one(inner, lives[-1]))
    out: _Out = []
    held: dict[ir.Var, list[ir.Atom | None]] = {var: [] for var in watched}
    end: _Env | None = dict(env)
    for inner, after in zip(statement.body.statements, lives[-2::-1], strict=True):
        if end is None:
            break
        inside = assigned(*ir.blocks_of(inner))
        before = {var: end.get(var, ir.UNDEFINED) for var in held}
        made, end = _rename((inner,), end, after, facts)
        out += made
        for var, atom in before.items():
            held[var] += [None if var in inside or isinstance(atom, _Late) else atom] * len(made)
    return out, end, held


def _join_sides(
    sides: list[tuple[_Out, _Env | None]], env: _Env, live: set[ir.Var], facts: _Facts
) -> tuple[list[ir.Var], list[tuple[ir.Atom, ...]]]:
    """The results of a statement with these blocks, and what each block yields for them; ``env`` gets the results."""
    results: list[ir.Var] = []
    yields: list[tuple[ir.Atom, ...]] = []
    made: dict[tuple[ir.Atom, ...], ir.Var] = {}
    for var in _joined(env, [end for _, end in sides], live):
        row = tuple(_yielded(var, end, out, facts) for out, end in sides)
        if all(atom == row[0] for atom in row):
            env[var] = row[0]
        elif var.is_temporary and row in made:
            env[var] = made[row]
        else:
            env[var] = made[row] = facts.fresh(var)
            results.append(made[row])
            yields.append(row)
    return results, yields


def _unsure(statements: Statements) -> dict[ir.Var, None]:
    """The variables that a run of statements may have assigned, or not, when an exception interrupts it: those that
    are assigned before something that may raise."""
    found: dict[ir.Var, None] = {}
    raises = False
    for statement in reversed(statements):
        if raises or isinstance(statement, (ir.For, ir.While, ir.With, ir.Try)):
            found |= assigned(ir.Block((statement,)))
        elif isinstance(statement, ir.If):
            found |= _unsure(statement.then.statements) | _unsure(statement.orelse.statements)
        raises = raises or any(map(_may_raise, ir.walk(ir.Block((statement,)))))
    return found


def _may_raise(statement: ir.Statement) -> bool:
    match statement:
        case ir.Let(value=ir.Var() | ir.Const() | ir.MakeFunction()) | ir.If() | ir.Note():
            return False
        case ir.Let(value=ir.Call(ir.Const(value=fn), args)):
            return fn not in (ops.make_tuple, ops.make_list) or any(isinstance(a, ir.Star) for a in args)
        case (
            ir.Let() | ir.Store() | ir.For() | ir.While() | ir.With() | ir.Try() | ir.Assert() | ir.Raise() |
            ir.Return() | ir.Break() | ir.Continue()
        ):
            return True
        case _:
            assert_never(statement)


def _joined(env: _Env, branches: Iterable[_Env | None], live: set[ir.Var]) -> list[ir.Var]:
    """The variables that a branch changes and that are read later: the user's first, then temporaries."""
    changed: dict[ir.Var, None] = {}
    for branch in branches:
        for var, held in (branch or {}).items():
            if var in live and not (held is env.get(var) or held == env.get(var)):
                changed[var] = None
    return sorted(changed, key=lambda var: var.is_temporary)


def _yielded(var: ir.Var, env: _Env | None, out: _Out, facts: _Facts) -> ir.Atom:
    """What a block gives for ``var`` at its end: ``UNDEFINED`` where the end is not reached."""
    return ir.UNDEFINED if env is None else _read(var, env, out, facts)


def _rename_loop(loop: ir.For | ir.While, env: _Env, live: set[ir.Var], out: _Out, facts: _Facts) -> None:
    """Put the loop into ``out`` and its results into ``env``."""
    at_head = facts.liveness.at_head(loop, live)
    items = [loop.item] if isinstance(loop, ir.For) else []
    changed = [var for var in dict.fromkeys((*items, *assigned(loop.body))) if var in at_head]
    iterable = _read(loop.iterable, env, out, facts) if isinstance(loop, ir.For) else None
    inits = [_read(var, env, out, facts) for var in changed]
    params = [facts.fresh(var) for var in changed]
    inner: _Env = {**env, **dict(zip(changed, params, strict=True))}
    test = _rename_test(loop, inner, facts)
    item = facts.fresh(items[0]) if items else None
    if item is not None:
        inner[items[0]] = item
    wanted = at_head if loop.leave is None else at_head | facts.liveness.read_by((loop.leave,))
    body, end = _rename(loop.body.statements, inner, wanted, facts)
    yields = tuple(_yielded(var, end, body, facts) for var in changed)
    leave = None if loop.leave is None or end is None else _read(loop.leave, end, body, facts)
    results = [facts.fresh(var) for var in changed]
    left = _left(loop, env, live, facts)
    carried = tuple(ir.Carried(*row) for row in zip(params, inits, results, strict=True))
    block = ir.Block(tuple(body), yields)
    if item is not None and iterable is not None:
        out.append(ir.For(item, iterable, block, carried, leave, left, span=loop.span))
    elif test is not None:
        out.append(ir.While(test, block, carried, leave, left, span=loop.span))
    env.update(zip(changed, results, strict=True))


def _rename_test(loop: ir.For | ir.While, env: _Env, facts: _Facts) -> ir.Block | None:
    """The test of a ``While``. It defines nothing for others, so ``env`` stays as it is."""
    if isinstance(loop, ir.For):
        return None
    inner = dict(env)
    wanted = facts.liveness.read_by(loop.test.yields)
    out, _ = _rename(loop.test.statements, inner, wanted, facts)
    return ir.Block(tuple(out), (_read(loop.test.yields[0], inner, out, facts),))


def _left(loop: ir.For | ir.While, env: _Env, live: set[ir.Var], facts: _Facts) -> ir.Var | None:
    """The variable that says afterwards whether the loop was left, where that is read."""
    if loop.left is None or loop.left not in live:
        return None
    left = facts.fresh(loop.left)
    env[loop.left] = left
    return left
