"""How do I write a custom gradient that has higher derivatives?

`@s2s.custom_gradient` takes a function that returns its value and a function of the cotangent, as TensorFlow's does. A
second derivative is the derivative of that inner function: by its source, or, where it has a custom gradient itself, by
that one. So the derivative of each order can be what you say, also one that differs from the true one on purpose:
`log1pexp` below has the second derivative 1 - exp(x). The stable one next to it has the true derivatives, written so
that none of them overflows.

What the gradient function needs of the forward part is written into the reverse sweep, what it does not is not
computed there. `s2s.defvjp` gives a rule to a function that is there already, also one without source such as a C
extension: `rule(out, out_bar, *args)` gives a cotangent for each argument. `s2s.defjvp` does so for tangents, and
`s2s.partials` takes the partial derivatives of an elementwise function. All modes follow from one rule, because the
others are its transpose.
"""

import ctypes
import ctypes.util
import math

import numpy as np

import s2s


@s2s.custom_gradient
def log1pexp(x):
    e = np.exp(x)

    def grad(dy):
        @s2s.custom_gradient
        def first(x):
            def second(ddy):
                return ddy * (1 - e)

            return 1 - 1 / (1 + e), second

        return dy * first(x)

    return np.log(1 + e), grad


@s2s.custom_gradient
def softplus(x):
    """The same function, stable, with its true derivatives."""
    def grad(dy):
        return dy / (1 + np.exp(-x))

    return np.logaddexp(0, x), grad


def loss(w, x, y):
    return np.mean((softplus(x @ w) - y) ** 2)


libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.lgamma.restype, libm.lgamma.argtypes = ctypes.c_double, [ctypes.c_double]


def log_gamma(x):
    """A function of a C library: there is no source to read."""
    return libm.lgamma(x)


@s2s.defvjp(log_gamma)
def log_gamma_vjp(out, out_bar, x):
    h = 1e-5
    return out_bar * (log_gamma(x + h) - log_gamma(x - h)) / (2 * h)


def smooth_sign(x, width):
    return np.tanh(x / width)


s2s.partials(
    smooth_sign,
    lambda y, x, width: (1 - y**2) / width,
    lambda y, x, width: -x * (1 - y**2) / width**2,
)


def sources():
    return [
        s2s.source(log1pexp, 1.0),
        s2s.source(loss, np.ones(2), np.ones((3, 2)), np.ones(3)),
        s2s.source(lambda x, w: np.sum(smooth_sign(x, w)), np.ones(3), 2.0),
    ]


def main():
    first, second = s2s.grad(log1pexp), s2s.grad(s2s.grad(log1pexp))
    print("log1pexp at 1:", first(1.0), second(1.0), "at 100:", first(100.0), second(100.0))
    assert np.isclose(first(1.0), 0.7310586, rtol=1e-7) and np.isclose(second(1.0), -1.7182817, rtol=1e-7)
    assert first(100.0) == 1.0 and np.isclose(second(100.0), -2.688e43, rtol=1e-4)
    assert first(np.float32(100.0)) == 1.0
    with np.errstate(over="ignore"):
        assert second(np.float32(100.0)) == -np.inf
    assert s2s.hessian(log1pexp)(1.0) == s2s.hvp(log1pexp, (1.0,), (1.0,)) == second(1.0)
    assert s2s.jvp(first, (1.0,), (1.0,))[1] == second(1.0)

    # The true derivatives: the logistic function s, and s (1 - s).
    for x in (1.0, 100.0, -100.0):
        s = 1 / (1 + math.exp(-x))
        assert np.isclose(s2s.grad(softplus)(x), s, rtol=1e-14)
        assert np.isclose(s2s.grad(s2s.grad(softplus))(x), math.exp(-abs(x)) / (1 + math.exp(-abs(x))) ** 2, rtol=1e-14)
    assert np.isfinite(s2s.grad(s2s.grad(softplus))(np.float32(100.0)))
    s2s.check_grads(loss, (np.array([0.3, -0.5]), np.eye(3)[:, :2], np.ones(3)))

    # A C function: the slope of log gamma is the digamma function, 1 - Euler's constant at 2.
    slope = s2s.grad(log_gamma)(2.0)
    print("slope of log gamma at 2:", slope)
    assert np.isclose(slope, 1 - np.euler_gamma, atol=1e-9)
    assert np.isclose(s2s.jvp(log_gamma, (2.0,), (3.0,))[1], 3 * (1 - np.euler_gamma), atol=1e-9)

    x, w = np.array([0.5, -1.0, 2.0]), 2.0
    s2s.check_grads(lambda x, w: np.sum(smooth_sign(x, w)), (x, w))


if __name__ == "__main__":
    main()
