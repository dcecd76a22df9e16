"""How are gradients calculated in a convolutional network?

A convolution is a loop over the places of a small kernel: each adds a shifted image times a matrix from the old
channels to the new ones. Its reverse is the same loop, backwards: the cotangent of the output times the transposed
matrix is added to the shifted part of the image's cotangent, and the shifted image times the cotangent of the
output to that matrix's. A relu passes the cotangent where it passed the value.

The network has 16 and 32 channels in two convolutions and trains on batches of 50, for a dozen rounds. Its
gradient is printed first.
"""

import numpy as np
from sklearn.datasets import load_digits

import s2s


def convolution(images, kernels, bias):
    """Images by rows, columns and channels with kernels of 3 by 3; the border is left out."""
    rows, columns = images.shape[1] - 2, images.shape[2] - 2
    out = np.zeros((len(images), rows, columns, kernels.shape[-1]))
    for i in range(3):
        for j in range(3):
            out += images[:, i : i + rows, j : j + columns] @ kernels[i, j]
    return out + bias


def relu(x):
    return np.maximum(x, 0.0)


def network(params, images):
    h = relu(convolution(images, params["first"], params["first_bias"]))
    h = relu(convolution(h, params["second"], params["second_bias"]))
    return h.reshape(len(images), -1) @ params["last"] + params["last_bias"]


def loss(params, images, labels):
    z = network(params, images)
    z = z - np.max(z, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(labels)), labels])


def start(rng):
    """Random weights that keep the size of what goes through them, as He et al. (2015) choose them."""

    def weights(*shape):
        return rng.normal(size=shape) * np.sqrt(2.0 / np.prod(shape[:-1]))

    return {
        "first": weights(3, 3, 1, 16), "first_bias": np.zeros(16),
        "second": weights(3, 3, 16, 32), "second_bias": np.zeros(32),
        "last": weights(512, 10), "last_bias": np.zeros(10),
    }


def digits(held_back=360):
    """Images of 8 by 8 pixels in one channel and their digits: those to learn from, and those that are held back."""
    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    images, labels = found.images[order, :, :, None] / 16.0, found.target[order]
    return images[held_back:], labels[held_back:], images[:held_back], labels[:held_back]


def sources():
    params = start(np.random.default_rng(0))
    return [s2s.source(loss, params, np.zeros((50, 8, 8, 1)), np.zeros(50, dtype=int))]


def main(rounds=12, size=50):
    images, labels, test_images, test_labels = digits()
    print(*sources())
    rng = np.random.default_rng(2)
    params = start(rng)
    steps = rounds * -(-len(labels) // size)
    opt = s2s.optim.Adam(s2s.optim.schedules.CosineDecay(0.003, steps))
    state = opt.init(params)
    for k in range(rounds):
        order = rng.permutation(len(labels))
        for batch in np.split(order, range(size, len(order), size)):
            grads = opt.compute_gradients(loss, params, images[batch], labels[batch])
            params, state = opt.apply_gradients(grads, params, state)
        accuracy = np.mean(np.argmax(network(params, test_images), axis=1) == test_labels)
        print(f"round {k + 1:2}: loss {loss(params, images, labels):.4f}, accuracy {accuracy:.4f}", flush=True)
    print(f"accuracy on {len(test_labels)} held-back digits: {accuracy:.4f}")
    assert accuracy >= 0.97


if __name__ == "__main__":
    main()
