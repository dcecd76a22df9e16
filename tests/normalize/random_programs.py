"""The text of random functions of two numbers: branches, loops and exits of all kinds, in each other."""

import functools

from hypothesis import strategies as st

# Strategies are made once each: making them costs more than drawing from them.
NAMES = ["a", "b", "c", "d"]
VARIABLES = st.sampled_from(NAMES)
OPERANDS = st.sampled_from([*NAMES, "1", "2", "5"])
FORMS = ["({x} * 3 + {y}) % 17", "{x}", "{x} - {y}", "{x} if {y} > 2 else {y}", "{x} or {y}"]
TESTS = ["{x} > {y}", "{x} % 2 == 0", "{x} < {y} and {y} < 9"]
EXPRESSIONS = st.builds(str.format, st.sampled_from(FORMS), x=OPERANDS, y=OPERANDS)
CONDITIONS = st.builds(str.format, st.sampled_from(TESTS), x=VARIABLES, y=OPERANDS)
ITEMS = st.sampled_from([*NAMES, "i"])
LENGTHS, TRIPS, THIRDS = st.integers(1, 3), st.integers(0, 3), st.integers(0, 2)
KINDS = {
    (deep, looped): st.sampled_from(
        ["assign", "assign", "swap", "return"]
        + ["break", "continue"] * looped
        + ["if", "if", "if", "for", "while", "forever"] * deep
    )
    for deep in (False, True)
    for looped in (False, True)
}


def indent(lines):
    return ["    " + line for line in lines]


@functools.cache
@st.composite
def suites(draw, depth, looped):
    """Lines of a suite of at most ``depth`` levels; ``looped`` where a loop is around it."""
    lines = []
    for _ in range(draw(LENGTHS)):
        lines += draw(statements(depth, looped))
    return lines


@functools.cache
@st.composite
def statements(draw, depth, looped):
    match draw(KINDS[depth > 0, looped]):
        case "assign":
            return [f"{draw(VARIABLES)} = {draw(EXPRESSIONS)}"]
        case "swap":
            return ["a, b = b, a + 1"]
        case "return":
            # Exits that stand alone leave nothing to do after them, so most have a test.
            return [f"if {draw(CONDITIONS)}:", f"    return {draw(EXPRESSIONS)}"]
        case "break" | "continue" as word:
            return [word] if draw(THIRDS) == 0 else [f"if {draw(CONDITIONS)}:", f"    {word}"]
        case "if":
            lines = [f"if {draw(CONDITIONS)}:", *indent(draw(suites(depth - 1, looped)))]
            return lines + draw(orelses(depth, looped))
        case "for":
            head = f"for {draw(ITEMS)} in range({draw(TRIPS)}):"
            return [head, *indent(draw(suites(depth - 1, True))), *draw(orelses(depth, looped))]
        case "while":
            # Each loop counts its trips, by a name that no loop around it has, so that every program ends.
            count = f"n{depth}"
            lines = [f"{count} = 0", f"while {count} < 3 and {draw(CONDITIONS)}:", f"    {count} += 1"]
            return lines + indent(draw(suites(depth - 1, True))) + draw(orelses(depth, looped))
        case "forever":
            count = f"n{depth}"
            lines = [f"{count} = 0", "while True:", f"    {count} += 1"]
            lines += [f"    if {count} > 3:", "        break"]
            return lines + indent(draw(suites(depth - 1, True)))


@functools.cache
@st.composite
def orelses(draw, depth, looped):
    return ["else:", *indent(draw(suites(depth - 1, looped)))] if draw(THIRDS) == 0 else []


PROGRAM_TEXTS = suites(3, False).map(
    lambda body: "\n".join(["def f(a, b):", *indent(["c = 4", *body, "return (a, b, c)"])]) + "\n"
)
