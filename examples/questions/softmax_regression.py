"""How are gradients calculated? A training loop with matmul and softmax.

From the back, statement by statement: each line of the reverse sweep takes the cotangent of what a line of the
loss computed (`z_bar` is how the loss changes with `z`) to the cotangents of what it was computed from.

- `-np.mean(logp[np.arange(len(y)), y])`: the mean gives `-1 / n` to each element that was picked, and picking puts
  it back in its place among zeros.
- `logp = z - np.log(np.sum(np.exp(z)))`: `z_bar` is `logp_bar` less the sum of each row times the softmax, which
  is `exp(z)` by its sum. The forward sweep has both already.
- `z - np.max(z)`: the cotangent of the maximum goes to the places where it was, to equal ones in equal shares.
- `z = X @ W + b`: to `W` by `X.T @ z_bar`, to `b`, which was stretched over all rows, by the sum of the rows.

Adam does the rest. `s2s.source` prints the gradient before the training starts.
"""

import numpy as np
from sklearn.datasets import load_digits

import s2s


def loss(params, X, y):
    z = X @ params["W"] + params["b"]
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(y)), y])


def digits(held_back=360):
    """Images of 64 pixels and their digits: those to learn from, and those that are held back."""
    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    X, y = found.data[order] / 16.0, found.target[order]
    return X[held_back:], y[held_back:], X[:held_back], y[:held_back]


def start():
    return {"W": np.zeros((64, 10)), "b": np.zeros(10)}


def sources():
    return [s2s.source(loss, start(), np.zeros((20, 64)), np.zeros(20, dtype=int))]


def main():
    X, y, X_test, y_test = digits()
    print(*sources())
    found = s2s.optim.Adam(learning_rate=0.05).minimize(loss, start(), X, y, steps=200, progress=True)
    accuracy = np.mean(np.argmax(X_test @ found.params["W"] + found.params["b"], axis=1) == y_test)
    print(f"accuracy on {len(y_test)} held-back digits: {accuracy:.4f}")
    assert accuracy >= 0.95 and np.all(np.diff(found.history[10:]) < 0.01)


if __name__ == "__main__":
    main()
