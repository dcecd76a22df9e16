"""How does a gradient get through `floor`, `round`, a cast to integers, or `sign`, in the middle of a network?

Between its jumps such a function is flat: its true derivative is 0 almost everywhere, and differences give 0, or where
a step goes over a jump something like 500. With neither can what comes before be trained. So the backward sweep takes
something else, and which one is a choice: straight through, as if nothing had been rounded (the default of what
rounds), the slope of a smooth step in place of the jump (`"sigmoid"`, `"linear"`, with a sharpness), the clipped
straight-through slope for `sign` (`"hard_tanh"`), `"zero"`, or `"error"`. The values stay what they are.

The choice is made for a function (`nonsmooth=` of the decorator), for a block, in the program or around the call of the
derivative (`with s2s.nonsmooth(...)`), or for one call (`s2s.straight_through(np.floor)(x)`). It is part of what is
compiled: another choice is another version, and each says on top what it was made for. `int(x)`, `x.astype(int)`,
`round(x)` and `//` are treated alike. `s2s.check_grads` does not call the difference an error: it checks the rest, and
says at which line the rule and the differences disagree, and what each of them gives there.
"""

import numpy as np

import s2s


def levels(x):
    """Four levels for each unit."""
    return np.floor(4.0 * x) / 4.0


def converted(x):
    return int(x) * 0.5 + round(x) + x // 2.0


def mixed(x):
    with s2s.nonsmooth(floor="sigmoid", sharpness=50):
        smooth = np.floor(x)
    return smooth + s2s.straight_through(np.sign)(x) * np.floor(x)


@s2s.differentiable(nonsmooth="hard_tanh")
def binary(w, x):
    return np.sum(np.sign(w) * x)


def network(w, x):
    """A hidden layer whose values are rounded to four levels."""
    hidden = levels(1.0 / (1.0 + np.exp(-(x @ w["hidden"]))))
    return hidden @ w["out"]


def loss(w, x, y):
    return np.mean((network(w, x) - y) ** 2)


def trained(policy, x, y):
    rng = np.random.default_rng(0)
    w = {"hidden": rng.normal(size=(2, 8)), "out": np.zeros(8)}
    before = w["hidden"].copy()
    with s2s.nonsmooth(floor=policy, sharpness=2.0):
        w = s2s.optim.Adam(learning_rate=0.03).minimize(loss, w, x, y, steps=500).params
    return loss(w, x, y), np.max(np.abs(w["hidden"] - before))


def sources():
    return [s2s.source(mixed, 2.5), s2s.source(binary, np.ones(3), np.ones(3))]


def main():
    # The choices at a jump, and between two.
    gradient = s2s.grad(lambda x: np.floor(x))
    assert gradient(2.0) == gradient(2.5) == 1.0
    with s2s.nonsmooth("zero"):
        assert gradient(2.0) == 0.0
    with s2s.nonsmooth(floor="sigmoid", sharpness=50):  # the slope of 1 / (1 + exp(-50 d)), d from the next jump
        logistic = 1.0 / (1.0 + np.exp(-50 * 0.1))
        assert gradient(2.0) == 12.5
        assert np.isclose(gradient(2.1), 50 * logistic * (1.0 - logistic), rtol=1e-12)
    with s2s.nonsmooth(floor="linear", sharpness=50):  # a ramp, 1 / 50 wide
        assert (gradient(2.0), gradient(2.1)) == (50.0, 0.0)

    # Conversions, straight through and with the true derivative.
    assert s2s.grad(converted)(5.7) == 0.5 + 1.0 + 0.5
    with s2s.nonsmooth(int="zero", round="zero"):
        assert s2s.grad(converted)(5.7) == 0.5
    print("binary weights:", s2s.grad(binary)(np.array([0.3, -2.0, 1.0]), np.array([1.0, 2.0, 3.0])))
    assert s2s.grad(binary)(np.array([0.3, -2.0, 1.0]), np.array([1.0, 2.0, 3.0])).tolist() == [1.0, 0.0, 3.0]
    assert s2s.grad(mixed)(2.0) == 12.5 + 2.0 + 1.0

    # The checker says why the numbers differ: 500 or 0 by differences, 1 by the rule.
    for x, shown in ((2.0, "1 by the rule, 500 by differences"), (2.5, "1 by the rule, 0 by differences")):
        report = s2s.check_grads(lambda x: np.floor(x), (x,), eps=1e-3)
        print(report)
        assert shown in str(report)

    # With the true derivative the hidden layer does not move at all.
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(-2.0, 2.0, 200), np.ones(200)])
    y = np.sin(2.0 * x[:, 0])
    for policy in ("zero", "straight_through", "sigmoid"):
        error, moved = trained(policy, x, y)
        print(f"{policy}: mean squared error {error:.4f}, the hidden layer has moved by {moved:.2f}")
        assert (moved == 0.0) == (policy == "zero")
        assert (error < 0.05) == (policy != "zero")


if __name__ == "__main__":
    main()
