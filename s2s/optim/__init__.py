"""Optimizers of NumPy parameters by gradient steps, with parts that may be frozen and freed.

    opt = s2s.optim.Adam(learning_rate=0.1)
    state = opt.init(params)
    grads = opt.compute_gradients(loss, params, X, y)
    params, state = opt.apply_gradients(grads, params, state, frozen={"w": True, "b": False})

    found = opt.minimize(loss, params, X, y, steps=200)
    found.params, found.value, found.history
    more = opt.minimize(loss, found.params, X, y, steps=200, state=found.state)

Parameters are any structure of floats and arrays that ``s2s.grad`` takes; float32 stays float32.
"""

from s2s.optim import schedules
from s2s.optim.batches import Batches
from s2s.optim.optimizers import SGD, Adagrad, Adam, AdamW, Momentum, Nesterov, Optimizer, RMSProp
from s2s.optim.running import Result
from s2s.optim.saving import from_arrays, to_arrays

__all__ = [
    "Adagrad", "Adam", "AdamW", "Batches", "Momentum", "Nesterov", "Optimizer", "RMSProp", "Result", "SGD",
    "from_arrays", "schedules", "to_arrays",
]
