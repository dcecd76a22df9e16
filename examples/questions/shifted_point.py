"""How do I take the gradient at a shifted point, `w + eps * v`, as sharpness-aware minimisation does?

A gradient is a function: call it there. Nothing has to be assigned to variables and restored. Where the shift
depends on `w` itself there are two derivatives: the gradient at the shifted point, with the shift as a constant,
which is the step of sharpness-aware minimisation, and the derivative of the loss at the shifted point, which
differentiates the shift too. s2s has both: a function that calls `s2s.grad` is differentiated like any other, and
in the generated source the inner gradient is written out.
"""

import numpy as np

import s2s

RADIUS = 0.1


def loss(w):
    """Zero along the hyperbola w[0] * w[1] = 1, with curvature 2 (w[0]^2 + w[1]^2) across it: least at (1, 1)."""
    return (w[0] * w[1] - 1.0) ** 2


gradient = s2s.grad(loss)


def shift(w):
    """A step of length RADIUS uphill."""
    g = s2s.grad(loss)(w)
    return RADIUS * g / np.sqrt(np.sum(g * g))


def worst_nearby(w):
    return loss(w + shift(w))


def descend(step_of, w, steps=1500):
    opt = s2s.optim.SGD(learning_rate=0.05)
    state = opt.init(w)
    for _ in range(steps):
        w, state = opt.apply_gradients(step_of(w), w, state)
    return w


def sharpness(w):
    return np.max(np.linalg.eigvalsh(s2s.hessian(loss)(w)))


def sources():
    return [s2s.source(worst_nearby, np.ones(2))]


def main():
    w, v = np.array([3.0, 0.5]), np.array([1.0, 2.0])

    # A direction that is given: the difference of two gradients is the Hessian times the direction.
    eps = 1e-5
    quotient = (gradient(w + eps * v) - gradient(w - eps * v)) / (2.0 * eps)
    print("by shifted gradients", quotient, "by s2s.hvp", s2s.hvp(loss)(w, v))
    np.testing.assert_allclose(quotient, s2s.hvp(loss)(w, v), rtol=1e-6)

    # A shift that depends on w, as a constant and differentiated: the difference is the slope of the shift.
    constant, whole = gradient(w + shift(w)), s2s.grad(worst_nearby)(w)
    print("shift held", constant, "shift differentiated", whole)
    np.testing.assert_allclose(whole, constant + s2s.jacobian(shift)(w).T @ constant, rtol=1e-9)

    # Plain descent stops at the first point of the hyperbola, sharpness-aware descent goes on to the flattest.
    plain, aware = descend(gradient, w), descend(lambda w: gradient(w + shift(w)), w)
    print(f"plain descent ends at {plain.round(3)}, where the sharpness is {sharpness(plain):.2f}")
    print(f"sharpness-aware descent at {aware.round(3)}, where it is {sharpness(aware):.2f}")
    assert loss(plain) < 1e-12 and sharpness(plain) > 15.0
    np.testing.assert_allclose(aware, 1.0, atol=0.1)
    assert sharpness(aware) < 4.5


if __name__ == "__main__":
    main()
