"""
A layer that solves equations
=============================

A layer of a network need not be a formula: here its output is the resting state of units that act on each other, found
by a solver. The weights are trained by the implicit function theorem, whatever the solver did.
"""

import matplotlib.pyplot as plt
import numpy as np

import s2s

# %%
# The resting state ``z`` of each sample satisfies ``z = tanh(z W + x U + b)``. The solver is Anderson's, which mixes
# the last iterates and stops when it is close enough.


def unit(z, x, W, U, b):
    return np.tanh(z @ W + x @ U + b)


def anderson(x, W, U, b, memory=4):
    z = np.zeros((len(x), len(b)))
    steps, changes = [], []
    for _ in range(100):
        out = unit(z, x, W, U, b)
        steps, changes = [*steps[-memory:], out.ravel()], [*changes[-memory:], (out - z).ravel()]
        if np.max(np.abs(changes[-1])) < 1e-11:
            break
        G = np.array(changes)
        mix = np.linalg.solve(G @ G.T + 1e-14 * np.eye(len(G)), np.ones(len(G)))
        z = (mix / mix.sum() @ np.array(steps)).reshape(out.shape)
    return out


rest = s2s.implicit(anderson, lambda z, x, W, U, b: unit(z, x, W, U, b) - z)


def loss(params, x, y):
    z = rest(x, params["W"], params["U"], params["b"])
    return np.mean((z @ params["out"] - y) ** 2)


# %%
# The derivative agrees with differences of the solver, and with an ordinary loop of 200 rounds that is differentiated
# as it stands.

rng = np.random.default_rng(2)
x = np.linspace(-3.0, 3.0, 40)[:, None]
y = np.sin(2.0 * x) * np.exp(-0.1 * x**2)
size = 8
params = {
    "W": 0.3 * rng.normal(size=(size, size)) / np.sqrt(size),
    "U": rng.normal(size=(1, size)),
    "b": rng.normal(size=size),
    "out": 0.3 * rng.normal(size=(size, 1)),
}


def unrolled(params, x, y):
    z = np.zeros((len(x), size))
    for _ in range(200):
        z = unit(z, x, params["W"], params["U"], params["b"])
    return np.mean((z @ params["out"] - y) ** 2)


by_theorem, by_loop = s2s.grad(loss)(params, x, y), s2s.grad(unrolled)(params, x, y)
for name in params:
    print(f"{name:3}: largest difference {np.max(np.abs(by_theorem[name] - by_loop[name])):.1e}")
    assert np.allclose(by_theorem[name], by_loop[name], rtol=1e-6, atol=1e-9)

ahead, behind = (loss({**params, "b": params["b"] + h * np.eye(size)[2]}, x, y) for h in (1e-5, -1e-5))
assert abs(by_theorem["b"][2] - (ahead - behind) / 2e-5) < 1e-7

# %%
# In the source there is one linear solve, and nothing of Anderson.

print(s2s.source(loss, params, x, y, mode="grad"))

# %%
# Training by Adam.

found = s2s.optim.Adam(learning_rate=0.03).minimize(loss, params, x, y, steps=150)
print(f"loss {found.history[0]:.4f} -> {found.value:.6f}")
assert found.value < 0.02 * found.history[0]

# %%

at = np.linspace(-3.0, 3.0, 200)[:, None]
p = found.params
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(x, y, "k.", label="data")
left.plot(at, rest(at, params["W"], params["U"], params["b"]) @ params["out"], color="0.6", label="before")
left.plot(at, rest(at, p["W"], p["U"], p["b"]) @ p["out"], color="crimson", label="trained")
left.legend(frameon=False)
left.set(xlabel="x", ylabel="y", title="the fit")
right.plot(at, rest(at, p["W"], p["U"], p["b"]))
right.set(xlabel="x", ylabel="z", title="resting states of the eight units")
plt.show()
