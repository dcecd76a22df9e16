"""
A network that reads digits
===========================

A small network learns to read handwritten digits of 8 by 8 pixels. Then its gradient by the *pixels* shows what it
looked at where it was wrong.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import s2s

# %%
# Parameters are a list of layers, each a dict. The loss is the mean cross-entropy.


def network(layers, x):
    for layer in layers[:-1]:
        x = np.maximum(x @ layer["W"] + layer["b"], 0.0)
    return x @ layers[-1]["W"] + layers[-1]["b"]


def loss(layers, x, labels):
    z = network(layers, x)
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


def make_layers(sizes, rng):
    return [{"W": rng.normal(size=(n, m)) * np.sqrt(2.0 / n), "b": np.zeros(m)} for n, m in pairwise(sizes)]


# %%
# The images, a third of them held back, and 15 rounds of Adam over batches of 64.

images, labels = load_digits(return_X_y=True)
images = images / 16.0
rng = np.random.default_rng(0)
order = rng.permutation(len(labels))
train, held_back = order[600:], order[:600]

layers = make_layers((64, 64, 32, 10), rng)
value_and_grad = s2s.value_and_grad(loss)
adam = s2s.optim.Adam(learning_rate=0.003)
state, history = adam.init(layers), []
for _ in range(15):
    for batch in np.array_split(rng.permutation(train), len(train) // 64):
        value, gradient = value_and_grad(layers, images[batch], labels[batch])
        layers, state = adam.apply_gradients(gradient, layers, state)
        history.append(value)

guesses = np.argmax(network(layers, images[held_back]), axis=1)
accuracy = np.mean(guesses == labels[held_back])
print(f"{100 * accuracy:.1f} % of the digits that were held back")
assert accuracy > 0.95

# %%
# The gradient has the structure of the parameters. Its elements agree with differences.

gradient = s2s.grad(loss)(layers, images[:50], labels[:50])
weights, h = layers[1]["W"], 1e-6
weights[3, 5] += h
ahead = loss(layers, images[:50], labels[:50])
weights[3, 5] -= 2 * h
behind = loss(layers, images[:50], labels[:50])
weights[3, 5] += h
print(f"one weight: {gradient[1]['W'][3, 5]:.9f}, by differences {(ahead - behind) / (2 * h):.9f}")
assert abs(gradient[1]["W"][3, 5] - (ahead - behind) / (2 * h)) < 1e-8

# %%
# Each layer shows in the gradient that was written, also those of a loop over a list.

print(s2s.source(loss, layers, images[:50], labels[:50], mode="grad"))

# %%
# Digits that were held back and read wrongly, with the pixels that spoke for the wrong digit (red) or against it
# (blue).


def preference(x, layers, right, wrong):
    z = network(layers, x)
    return z[wrong] - z[right]


by_pixels = s2s.grad(preference)
wrong = held_back[guesses != labels[held_back]][:6]
figure, axes = plt.subplots(2, 6, figsize=(10, 3.9), layout="constrained")
for (above, below), index in zip(axes.T, wrong):
    x, guess = images[index], int(np.argmax(network(layers, images[index])))
    slope = by_pixels(x, layers, int(labels[index]), guess)
    above.imshow(x.reshape(8, 8), cmap="gray_r")
    above.set_title(f"{labels[index]}, read as {guess}")
    below.imshow((slope * x).reshape(8, 8), cmap="RdBu_r", vmin=-1.5, vmax=1.5)
for axis in axes.flat:
    axis.axis("off")
plt.show()
