"""Optimizers of NumPy parameters by gradient steps, with parts that may be frozen and freed.

    opt = s2s.optim.Adam(learning_rate=0.1)
    state = opt.init(params)
    grads = opt.compute_gradients(loss, params, X, y)
    params, state = opt.apply_gradients(grads, params, state, frozen={"w": True, "b": False})

    found = opt.minimize(loss, params, X, y, steps=200)
    found.params, found.value, found.history

Parameters are any structure of floats and arrays that ``s2s.grad`` takes; float32 stays float32.
"""

from s2s.optim import schedules
from s2s.optim.optimizers import SGD, Adagrad, Adam, AdamW, Momentum, Nesterov, Optimizer, Result, RMSProp

__all__ = [
    "SGD", "Adagrad", "Adam", "AdamW", "Momentum", "Nesterov", "Optimizer", "RMSProp", "Result", "schedules",
]
