"""The loss of multinomial logistic regression.

    s2s dump examples/softmax.py:loss --wrt W,b
"""

import numpy as np

import s2s


@s2s.differentiable
def loss(W, b, X, y):
    z = X @ W + b
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(y)), y])


def sample(features=4, classes=3, samples=20):
    """Random arguments for ``loss``: weights, offsets, features of each sample, class of each sample."""
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(features, classes)),
        rng.normal(size=classes),
        rng.normal(size=(samples, features)),
        rng.integers(0, classes, samples),
    )


if __name__ == "__main__":
    W, b, X, y = sample()
    dW, db = s2s.grad(loss, argnums=("W", "b"))(W, b, X, y)
    print("loss", loss(W, b, X, y))
    print("gradient with respect to W", dW, sep="\n")
    print("gradient with respect to b", db, sep="\n")
