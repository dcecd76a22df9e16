"""Every read of memory sees the version that it carries: a pass that is robbed of its own test is reported."""

import numpy as np
import pytest

import s2s
from s2s.analysis.reading import Reading
from s2s.codegen import folding
from s2s.core import ir
from s2s.derivatives import clear
from s2s.errors import DifferentiationError
from s2s.optimize import checking, memory_versions, passes, sink, snapshots, subexpressions
from tests.helpers import differences

X = np.array([0.7, 1.3, 0.4])


def quotient(x):
    a = x.copy()
    r = a / 2.0
    a[0] = 3.0
    return np.sum(r * x) + np.sum(a)


def quotient_in_a_loop(x):
    a = x.copy()
    r = -a
    total = 0.0
    for i in range(3):
        total = total + np.sum(r * x)
        a[i] = total
    return total + np.sum(a * x)


def same_product_twice(x):
    a = x.copy()
    r = np.sin(a * x)
    a[0] = 3.0 * x[1]
    return np.sum(r) + np.sum(np.sin(a * x))


def read_before_and_after(x):
    a = x.copy()
    b = a * a
    a[1:] = b[:-1] * a[:-1]
    a[0] = a[1] * b[2]
    return np.sum(a * b)


def passive_array_shuffled(x):
    w = np.array([1.0, 2.0, 3.0])
    first = np.sum(np.sin(w * x))
    np.random.RandomState(3).shuffle(w)
    return first + 2.0 * np.sum(np.sin(w * x))


def assert_right(f):
    """Both modes agree with central differences."""
    wanted = [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2s.grad(f)(X), wanted, rtol=1e-6)
    np.testing.assert_allclose(s2s.jacfwd(f)(X), wanted, rtol=1e-6)


def anything(*args):
    return True


def reported(f, mode):
    """The lines with a remark in what is raised when ``f`` is compiled."""
    clear(f)
    with pytest.raises(DifferentiationError, match="internal error") as found:
        s2s.source(f, X, mode=mode)
    broken = found.value.__cause__
    assert isinstance(broken, ir.BrokenIR)
    return [line.partition("<-- ")[2] for line in str(broken).splitlines() if "<-- " in line]


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setenv("S2S_CHECK_IR", "1")


@pytest.mark.parametrize("mode", ["grad", "vjp", "jvp", "jacfwd"])
def test_an_operand_that_changed_is_not_read_again(checked, monkeypatch, mode):
    monkeypatch.setattr(Reading, "is_unchanged", anything)
    assert reported(quotient, mode) == ["reads a at memory version 0, but version 1 is current"]


def test_an_operand_from_before_a_loop_that_changes_it(checked, monkeypatch):
    monkeypatch.setattr(Reading, "is_unchanged", anything)
    assert reported(quotient_in_a_loop, "jvp") == ["reads a at memory version 0 in other loops than it did"]


def read_in_an_inner_loop(x):
    a = x.copy()
    total = 0.0
    for i in range(3):
        r = a / 2.0
        for j in range(2):
            total = total + np.sum(r * x * r) * x[j]
        a[i] = a[i] * x[0]
    return total + np.sum(a)


def read_in_an_inner_loop_after_the_store(x):
    a = x.copy()
    total = 0.0
    for i in range(3):
        a[i] = a[i] * x[0]
        r = -a
        for j in range(2):
            total = total + np.sum(r * x) * x[j]
    return total + np.sum(a)


def read_two_loops_further_in(x):
    total = 0.0
    for _ in range(2):
        a = x * x
        for j in range(2):
            r = -a
            for k in range(2):
                for i in range(2):
                    total = total + np.sum(r * x) * x[j] * x[k] * x[i]
            a[j] = total * x[j]
        total = total + np.sum(a * x)
    return total


def stored_in_the_inner_loop(x):
    a = x.copy()
    total = 0.0
    for _ in range(2):
        r = a / 2.0
        for j in range(3):
            total = total + np.sum(r * x) * x[j]
            a[j] = total
    return total + np.sum(a * x)


@pytest.mark.parametrize(
    ("f", "reads"),
    [(read_in_an_inner_loop, True), (read_in_an_inner_loop_after_the_store, True), (read_two_loops_further_in, True),
     (stored_in_the_inner_loop, False)],
)  # fmt: skip
def test_an_operand_is_read_again_in_a_loop_that_does_not_change_it(checked, monkeypatch, f, reads):
    promised = []
    original = Reading.check
    monkeypatch.setattr(Reading, "check", lambda self: [promised.extend(self.promised), original(self)][1])
    assert_right(f)
    tangent = s2s.jvp(f, (X,), (np.cos(X),))[1]
    np.testing.assert_allclose(tangent, differences(f, X) @ np.cos(X), rtol=1e-7)
    assert bool(promised) == reads
    if not reads:
        monkeypatch.setattr(Reading, "is_unchanged", anything)
        assert "reads a at memory version 0 in other loops than it did" in reported(f, "jvp")


def test_a_copy_that_is_used_after_its_source_has_changed(checked, monkeypatch):
    def is_read_here(copy, source, following, memory, uses, context):
        return uses[copy] == sum(a == copy for s in following if isinstance(s, ir.Let) for a in ir.reads_of(s))

    monkeypatch.setattr(snapshots, "_is_used_up", is_read_here)
    assert any("is current" in line for line in reported(read_before_and_after, "grad"))


def test_a_statement_that_is_moved_behind_a_store(checked, monkeypatch):
    monkeypatch.setattr(sink, "_is_view", anything)
    assert any("is current" in line for line in reported(read_before_and_after, "grad"))


def test_an_expression_that_is_folded_behind_a_store(checked, monkeypatch):
    monkeypatch.setattr(folding._Folder, "may_pass", anything)
    assert any("is current" in line for line in reported(read_before_and_after, "grad"))


@pytest.mark.parametrize("f", [same_product_twice, read_before_and_after])
def test_equal_operations_are_shared_by_the_versions_that_they_read(checked, monkeypatch, f):
    original = subexpressions._is_shareable
    monkeypatch.setattr(
        subexpressions, "_is_shareable", lambda target, value, stored, own, context: original(
            target, value, set(), own, context))
    assert_right(f)


def test_what_breaks_the_order_is_refused_where_nobody_asked_for_the_check(monkeypatch):
    monkeypatch.delenv("S2S_CHECK_IR", raising=False)
    monkeypatch.setattr(folding._Folder, "may_pass", anything)

    def shifted(x):
        a = x.copy()
        b = a * a
        a[1:] = b[:-1] * a[:-1]
        return np.sum(a * b)

    with pytest.raises(DifferentiationError, match="its generated code is broken, .* is current"):
        s2s.grad(shifted)(X)


@pytest.mark.parametrize("f", [quotient, quotient_in_a_loop, same_product_twice, read_before_and_after])
def test_nothing_is_reported_of_the_compiler_as_it_is(checked, f):
    assert_right(f)


def test_a_call_that_changes_an_array_is_between_the_operations_on_it():
    assert_right(passive_array_shuffled)


def kept_in_a_list(x):
    kept = [float(x[0])]
    for value in x:
        kept.append(value * x[1])
    return sum(kept) * x[2]


def test_what_a_loop_hands_through_is_read_by_its_name_before_the_loop(checked):
    assert_right(kept_in_a_list)


def passive_array_shuffled_between(x):
    w = np.array([1.0, 2.0, 3.0])
    r = w / 2.0
    np.random.RandomState(3).shuffle(w)
    return np.sum(r * x) + np.sum(w * x)


def test_a_read_that_is_moved_behind_a_call_that_changes_the_array(checked, monkeypatch):
    drop_dead = passes.DEAD_CODE.run

    def moved(function, context):
        function = drop_dead(function, context)
        statements = list(function.body.statements)
        reads = [s for s in statements if isinstance(s, ir.Let) and str(s.target) == "r" and s.reads]
        later = [s for s in statements if s not in reads]
        return ir.replace(function, body=ir.Block((*later, *reads), function.body.yields)) if reads else function

    monkeypatch.setattr(passes.DEAD_CODE, "run", moved)
    monkeypatch.setattr(checking, "check", anything)
    assert any("is current" in line for line in reported(passive_array_shuffled_between, "grad"))


def of_the_size_of_what_is_partitioned(x):
    return np.sum(np.reshape(np.partition(np.reshape(x, (3, 1)), 1, axis=0), (1, 3)) * np.shape(x)[0])


@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_a_call_that_may_change_an_array_is_folded_with_what_is_said_of_it(checked, mode):
    s2s.source(of_the_size_of_what_is_partitioned, X, mode=mode)
    np.testing.assert_allclose(s2s.grad(of_the_size_of_what_is_partitioned)(X), [3.0, 3.0, 3.0])


def test_a_remark_is_about_the_next_call_that_is_given_the_array():
    a, b, c = (ir.Var(name, 0) for name in "abc")
    none = ir.Const(None)
    remark = ir.Store("opaque", a, none, none)
    copied = ir.Let(b, ir.Call(ir.Const(np.copy), (c,)))
    call = ir.Let(None, ir.Call(ir.Const(print), (a, b)))
    assert memory_versions._calls(ir.Block((remark, copied, call))) == {0: 2}
    assert memory_versions._calls(ir.Block((call, remark, copied))) == {1: None}


def without_reads(statement):
    is_read = isinstance(statement, (ir.Let, ir.Store)) and statement.reads
    return ir.replace(statement, reads=()) if is_read else statement


def left_early(x):
    a = 1.0 * x
    for i in range(3):
        is_last = np.sum(a) > 2.0
        a[i] = a[i] * x[0]
        if is_last:
            break
    return np.sum(a * x)


def left_while_it_runs(x):
    a, i = 1.0 * x, 0
    while i < 3:
        is_last = np.sum(a) > 2.0
        a[i] = a[i] * x[0]
        i += 1
        if is_last:
            break
    return np.sum(a * x)


def computed_from(atom, block):
    """The variables of a block that one is computed from, and that."""
    lets = {s.target: s for s in ir.walk(block) if isinstance(s, ir.Let)}
    found, todo = set(), [atom]
    while todo:
        var = todo.pop()
        if var in lets and var not in found:
            found.add(var)
            todo += ir.atoms_of(lets[var].value)
    return found


@pytest.mark.parametrize("f", [left_early, left_while_it_runs])
def test_what_ends_a_loop_is_read_at_the_end_of_an_iteration(checked, monkeypatch, f):
    """Where its operations were put off until then, the store before has changed what they read."""
    seen, original = [], checking.check_versions
    monkeypatch.setattr(
        checking, "check_versions",
        lambda function, context, *delayed: seen.append((function, context)) or original(function, context, *delayed))
    clear(f)
    s2s.source(f, X, mode="jvp")
    function, context = seen[-1]
    loop = next(s for s in function.body.statements if isinstance(s, (ir.For, ir.While)))
    *statements, last = loop.body.statements
    assert isinstance(last, ir.If) and loop.leave in last.results
    found = ir.replace(loop, body=ir.Block(tuple(statements), loop.body.yields), leave=last.test)
    function = ir.replace(function, body=ir.Block(
        tuple(found if s is loop else s for s in function.body.statements), function.body.yields))
    memory_versions.check(function, context)
    delayed = computed_from(found.leave, found.body)
    with pytest.raises(ir.BrokenIR, match="reads a at memory version .* is current"):
        memory_versions.check(function, context, {id(function): delayed})


@pytest.mark.parametrize("f", [quotient, same_product_twice])
def test_a_read_of_memory_that_changes_carries_a_version(checked, monkeypatch, f):
    drop_dead = passes.DEAD_CODE.run

    def robbed(function, context):
        function = drop_dead(function, context)
        return ir.replace(function, body=ir.Block(
            tuple(map(without_reads, function.body.statements)), function.body.yields))

    monkeypatch.setattr(passes.DEAD_CODE, "run", robbed)
    assert {*reported(f, "jvp")} == {f"reads {name} without a version of memory" for name in ("a", "a_dot")}
