"""How do I give a function another gradient in one place, as `gradient_override_map` does?

With `s2s.gradient_override`. It names functions, by themselves or by their name, and the rule for each: `"identity"`,
`"zero"`, a function `rule(out, out_bar, *args)` that gives the cotangents of the arguments, or the name under which one
was registered with `@s2s.register_gradient`. It holds for a block of the program, for a block around the call of a
derivative, or for a function that it decorates; blocks may be nested, and the innermost one that names a function
decides. The values stay what they are.

The generated source says on top which call has another rule, and the rule is written out in the reverse sweep, like
any other. Second derivatives and forward mode follow the rule too. A block of which no derivative meets the function is
an error: the rule would have been ignored.
"""

import numpy as np

import s2s


@s2s.register_gradient("CustomSquare")
def custom_square(out, out_bar, x):
    return out_bar * np.cos(x)


def clipped(out, out_bar, x):
    """The gradient of a sign that is trained: none where the weight is far away."""
    return out_bar * (np.abs(x) <= 1.0)


def rounded(x):
    return np.sum(np.floor(x) ** 2)


def in_a_block(x):
    with s2s.gradient_override({np.sign: clipped, "square": "CustomSquare"}):
        y = np.sign(x) * np.square(x)
    return np.sum(y + np.sign(x) * np.square(x))


def nested(x):
    with s2s.gradient_override({"floor": "zero"}):
        first = np.floor(x)
        with s2s.gradient_override({np.floor: "identity"}):
            second = np.floor(x)
    return first * 10.0 + second


@s2s.gradient_override({"square": "CustomSquare"})
def decorated(x):
    return np.square(x) * 2.0


def sources():
    return [s2s.source(in_a_block, np.ones(3))]


def main():
    x = np.array([0.5, -2.0, 3.5])
    sign, square = np.sign(x), x**2

    found = s2s.grad(in_a_block)(x)
    print("in a block:", found)
    assert np.allclose(found, (np.abs(x) <= 1.0) * square + sign * np.cos(x) + sign * 2.0 * x, rtol=1e-14)
    assert s2s.grad(nested)(2.5) == 1.0
    assert np.isclose(s2s.grad(decorated)(0.7), 2.0 * np.cos(0.7), rtol=1e-14)

    # Around the call of a derivative; the second derivative follows the rule, the function itself is as it was.
    gradient = s2s.grad(lambda x: np.square(x))
    with s2s.gradient_override({np.square: "CustomSquare"}):
        assert np.isclose(gradient(0.7), np.cos(0.7), rtol=1e-14)
        assert np.isclose(s2s.grad(gradient)(0.7), -np.sin(0.7), rtol=1e-14)
        _, tangent = s2s.jvp(lambda x: np.square(x), (0.7,), (2.0,))
        assert np.isclose(tangent, 2.0 * np.cos(0.7), rtol=1e-14)
    assert gradient(0.7) == 1.4
    assert s2s.grad(rounded)(x).tolist() == (2.0 * np.floor(x)).tolist()

    # A rule that nothing in the block asks for.
    try:
        with s2s.gradient_override({np.ceil: "identity"}):
            s2s.grad(rounded)(x)
    except s2s.errors.ArgumentError as problem:
        print(problem)
    else:
        raise AssertionError("the rule was ignored")


if __name__ == "__main__":
    main()
