"""Multinomial logistic regression on the handwritten digits that ship with scikit-learn.

Prints the gradient that s2s generates, trains with SciPy's L-BFGS-B, and prints the accuracy on digits that
were held back from the training.
"""

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from softmax import loss

import s2s

PIXELS, CLASSES = 64, 10


def objective(theta, X, y, decay):
    """The loss of all weights in one vector, as SciPy wants them, with weight decay."""
    W = theta[: PIXELS * CLASSES].reshape(PIXELS, CLASSES)
    b = theta[PIXELS * CLASSES :]
    return loss(W, b, X, y) + 0.5 * decay * np.sum(W * W)


def held_back_split(held_back=360, seed=0):
    digits = load_digits()
    X, y = digits.data / 16.0, digits.target  # pixels count from 0 to 16
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[held_back:], order[:held_back]
    return X[train], y[train], X[test], y[test]


def main():
    X, y, X_test, y_test = held_back_split()
    theta = np.zeros(PIXELS * CLASSES + CLASSES)
    decay = 1e-3

    print(s2s.source(objective, theta, X, y, decay, mode="value_and_grad"))

    objective_and_gradient = s2s.value_and_grad(objective)
    result = minimize(objective_and_gradient, theta, args=(X, y, decay), jac=True, method="L-BFGS-B")

    W, b = result.x[: PIXELS * CLASSES].reshape(PIXELS, CLASSES), result.x[PIXELS * CLASSES :]
    accuracy = np.mean(np.argmax(X_test @ W + b, axis=1) == y_test)
    print(f"trained on {len(y)} digits: {result.nit} iterations, objective {result.fun:.4f}")
    print(f"accuracy on {len(y_test)} held-back digits: {accuracy:.4f}")


if __name__ == "__main__":
    main()
