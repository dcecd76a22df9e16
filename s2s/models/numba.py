"""What functions that Numba's ``@vectorize`` and ``@guvectorize`` made compute: loops around the Python function."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["alone", "by_elements", "generalized"]


def by_elements(f: Any, kind: Any, *args: Any) -> Any:
    """``@vectorize``: the function of each element of arrays that broadcast to one shape."""
    shape = np.broadcast_shapes(*[np.shape(a) for a in args])
    if len(shape) == 0:
        return f(*args)
    given = [np.ravel(np.broadcast_to(a, shape)) for a in args]
    made = np.empty(len(given[0]), kind)
    for i in range(len(made)):
        made[i] = f(*[items[i] for items in given])
    return np.reshape(made, shape)


def alone(f: Any, places: Any, kind: Any, *args: Any) -> Any:
    """``@guvectorize`` with one result, where there are no dimensions but those of the function. It writes into its
    last argument, whose lengths are those of inputs at ``places``."""
    shape = tuple([np.shape(args[k])[d] for k, d in places])
    out = np.zeros(shape if len(places) > 0 else (1,), kind)
    f(*args, out)
    return out if len(places) > 0 else out[0]


def generalized(f: Any, ranks: Any, places: Any, boxed: Any, kind: Any, *args: Any) -> Any:
    """As ``alone``, for all in the dimensions before those of the function, of which ``ranks`` says how many each input
    has. ``boxed`` are the inputs without dimensions that it takes as arrays of one element."""
    batch = np.broadcast_shapes(*[np.shape(a)[: np.ndim(a) - rank] for a, rank in zip(args, ranks)])
    count = int(np.prod(batch))
    given = [
        np.reshape(
            np.broadcast_to(a, (*batch, *np.shape(a)[np.ndim(a) - rank :])),
            (count, *np.shape(a)[np.ndim(a) - rank :], *((1,) if k in boxed else ())))
        for k, (a, rank) in enumerate(zip(args, ranks))
    ]
    return one_by_one(f, tuple([np.shape(given[k])[1 + d] for k, d in places]), batch, kind, given)


def one_by_one(f: Any, shape: Any, batch: Any, kind: Any, given: Any) -> Any:
    whole = shape if len(shape) > 0 else (1,)
    made = np.zeros((len(given[0]), *whole), kind)
    for i in range(len(given[0])):
        out = np.zeros(whole, kind)
        f(*[a[i] for a in given], out)
        made[i] = out
    return np.reshape(made, (*batch, *shape))


def list_(items: Any = ()) -> Any:
    return [*items]


def dict_(*args: Any, **kwargs: Any) -> Any:
    return dict(*args, **kwargs)


def empty_list(cls: Any, item_type: Any, allocated: Any = 0) -> Any:
    return []


def empty_dict(cls: Any, key_type: Any, value_type: Any, n_keys: Any = 0) -> Any:
    return {}
