"""Some weights are frozen for a while, and Adam moves them all the same. Why?

Because their gradient is zero, but not their moments: Adam steps along running means of past gradients, and these
fade slowly. Stopping the gradient is not enough; the step has to be left out, for the value, for the moments and
for the number of steps that corrects the means. `frozen=` does that, by a mask that may be another one in each
step. Weights that are freed go on with the moments that they had.
"""

import numpy as np

import s2s

TARGET = np.array([1.0, -2.0, 3.0, -4.0])
FROZEN = np.array([True, True, False, False])
NOBODY = np.zeros(4, dtype=bool)


def loss(w):
    return np.sum((w - TARGET) ** 2)


def loss_with_stopped(w, frozen, held):
    """The loss, in which the frozen weights are constants: their gradient is zero."""
    return loss(np.where(frozen, held, w))


def sources():
    return [s2s.source(loss_with_stopped, TARGET, FROZEN, TARGET)]


def main():
    opt = s2s.optim.Adam(learning_rate=0.1)
    w = np.zeros(4)
    state = opt.init(w)
    for _ in range(5):
        w, state = opt.apply_gradients(opt.compute_gradients(loss, w), w, state)
    print("after five steps of all          ", w)

    stopped, its_state = w, state
    for _ in range(5):
        grads = opt.compute_gradients(loss_with_stopped, stopped, FROZEN, stopped)
        assert np.all(grads[FROZEN] == 0.0)
        stopped, its_state = opt.apply_gradients(grads, stopped, its_state)
    print("five more with gradients stopped  ", stopped)
    assert np.all(np.abs(stopped - w)[FROZEN] > 0.1)  # they move nevertheless

    held, kept = w, state
    for _ in range(5):
        held, kept = opt.apply_gradients(opt.compute_gradients(loss, held), held, kept, frozen=FROZEN)
    print("five more with two weights frozen ", held)
    assert np.all(held[FROZEN] == w[FROZEN])
    np.testing.assert_array_equal(held[~FROZEN], stopped[~FROZEN])
    assert kept["steps"].tolist() == [5, 5, 10, 10]

    # The others are frozen while the first two take their five steps: it is as if nothing had ever been frozen.
    for _ in range(5):
        held, kept = opt.apply_gradients(opt.compute_gradients(loss, held), held, kept, frozen=~FROZEN)
    never = opt.minimize(loss, np.zeros(4), steps=10, frozen=NOBODY)
    print("and five with the two others      ", held)
    np.testing.assert_allclose(held, never.params, rtol=1e-14)


if __name__ == "__main__":
    main()
