"""Parameters, their gradients and a state go in, the parameters and the state after one step come out.

Each optimizer is a formula for one array; the base class applies it to every array of a structure, keeps what is frozen
as it is, and refuses what is not finite.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from s2s.api import grad, value_and_grad
from s2s.core.array_classes import is_array_class
from s2s.core.inspection import with_article
from s2s.core.public import PublicValueAndGradient
from s2s.directives.differentiable import option_error
from s2s.errors import error
from s2s.optim.batches import Batches
from s2s.optim.options import tell_of_options
from s2s.optim.running import Result, Run, check_finite
from s2s.optim.schedules import Rate, rate_at
from s2s.optim.structures import as_array, beside, in_words, parameters, plain, replaced, spread

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Momentum", "Nesterov", "Optimizer", "RMSProp"]

Kept = dict[str, Any]
_FRACTIONS = ("momentum", "beta1", "beta2", "decay")  # at least 0 and less than 1
_POSITIVE = ("epsilon", "weight_decay", "initial_sum")


# --- what all have in common ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Optimizer:
    """The base of all optimizers: options, and functions of parameters and state; it has no memory of its own.

    ``learning_rate`` is a number or a schedule: a function of the number of steps taken so far.
    """

    learning_rate: Rate

    keeps: ClassVar[tuple[str, ...]] = ()
    """The names of what is kept for each parameter from step to step, besides the number of its steps."""

    def __post_init__(self) -> None:
        if not callable(self.learning_rate):
            self._check("learning_rate", 0.0, math.inf)
        for option in fields(self):
            if option.name in _FRACTIONS:
                self._check(option.name, 0.0, 1.0)
            elif option.name in _POSITIVE:
                self._check(option.name, 0.0, math.inf)

    def _check(self, name: str, least: float, below: float) -> None:
        value = getattr(self, name)
        if not (isinstance(value, numbers.Real) and least <= float(value) < below):
            wanted = "that is not negative" if below == math.inf else f"from {least:g} to less than {below:g}"
            raise option_error(f"`{name}` of {type(self).__name__} is {value!r}", f"give a number {wanted}")
        object.__setattr__(self, name, float(value))  # a float of NumPy's would make float64 of float32

    def init(self, params: Any) -> dict[str, Any]:
        """The state before the first step: a dict of what is kept, in dicts, lists, tuples and arrays like the
        parameters (a dict for an object), and ``"step"``, the number of steps taken.

        Raises ArgumentError where there are no floats among the parameters, or complex numbers.
        """
        leaves = parameters(params)
        made = {
            name: plain(params, {place: self._begin(name, as_array(leaf)) for place, leaf in leaves.items()})
            for name in self.keeps
        }
        return {"step": 0, **made}

    def _begin(self, name: str, p: Any) -> Any:
        return np.array(0) if name == "steps" else np.zeros_like(p)

    def compute_gradients(self, loss: Callable[..., Any], params: Any, *args: Any) -> Any:
        """The gradient of ``loss(params, *args)`` with respect to ``params``; it raises what ``s2s.grad`` raises."""
        return grad(loss)(params, *args)

    def apply_gradients(
        self, grads: Any, params: Any, state: dict[str, Any], frozen: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """The parameters and the state after one step, ``(params, state)``; what is given stays as it is.

        ``grads`` has the structure and shapes of ``params``; a None in it leaves what is there alone. ``frozen`` has
        the structure of ``params``, or the upper part of it, with bools, or arrays of bools for single elements; True
        keeps a parameter and what the state has for it to the last bit, whatever its gradient is. It may also be the
        name of a key or field, a path such as ``layers[0].w``, or a list of these.

        Raises ArgumentError where gradients, state or mask do not fit the parameters, and NonFiniteError where a
        gradient or a new value is not finite.
        """
        leaves, step = parameters(params), self._step_of(state)
        given, masks, kept = _gradients(params, grads), spread(params, frozen), self._kept_of(params, state)
        if step == 0:
            tell_of_options(params, masks)
        rate = rate_at(self.learning_rate, step)
        found: dict[str, Any] = {}
        for place, leaf in leaves.items():
            still = True if given[place] is None else masks[place]
            if still is True:
                found[place] = leaf
                continue
            new, kept[place] = self._move(as_array(leaf), given[place], kept[place], rate, still, place, step)
            found[place] = new if is_array_class(type(leaf)) else type(leaf)(new[()])
        made = {name: plain(params, {place: parts[name] for place, parts in kept.items()}) for name in self.keeps}
        return replaced(params, found), {"step": step + 1, **made}

    def _step_of(self, state: Any) -> int:
        """The number of steps so far, of a state of such an optimizer. Raises ArgumentError for anything else."""
        wanted = {"step", *self.keeps}
        if not isinstance(state, dict) or state.keys() != wanted:
            kind = with_article(type(state).__name__)
            got = f"has {', '.join(map(repr, state))}" if isinstance(state, dict) else f"is {kind}"
            is_result = isinstance(state, Result)
            hint = "pass its `state`" if is_result else "make one: `state = optimizer.init(params)`"
            raise error("S2S605", name=type(self).__name__, got=got, hint=hint)
        return int(state["step"])

    def _kept_of(self, params: Any, state: dict[str, Any]) -> dict[str, Kept]:
        """What a state has for each parameter, by place. Raises ArgumentError where it does not fit."""
        self._step_of(state)
        kept: dict[str, Kept] = {place: {} for place in parameters(params)}
        for name in self.keeps:
            for place, leaf, part in beside(params, state[name], f"the state {name!r}"):
                kept[place][name] = _kept(part, leaf, name, place)
        return kept

    def _move(self, p: Any, g: Any, kept: Kept, rate: float, still: Any, place: str, step: int) -> tuple[Any, Kept]:
        """A parameter and what is kept of it after a step; the elements where ``still`` is True are what they were."""
        if still is not False:
            g = np.where(as_array(still, g), 0, g)
        check_finite(g, f"the gradient of `{place}`", step)
        counted = {**kept, "steps": kept["steps"] + 1} if "steps" in kept else kept
        with np.errstate(all="ignore"):  # what is not finite is looked for
            new, made = self._update(p, g, counted, rate)
        return _settled(new, p, still, f"`{place}` after this step", step), {
            name: _settled(made[name], before, still, f"{name!r} in the state for `{place}`", step)
            for name, before in kept.items()
        }

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        """The formula: an array and what is kept of it after a step along the gradient ``g``. ``kept["steps"]`` counts
        this step."""
        raise NotImplementedError

    def minimize(
        self, loss: Callable[..., Any], params: Any, *args: Any, steps: int = 200, progress: bool = False,
        frozen: Any = None, callback: Callable[[Result], Any] | None = None, state: dict[str, Any] | None = None,
        batches: Callable[[int], tuple[Any, ...]] | None = None,
    ) -> Result:
        """``steps`` steps from ``params`` down the gradient of ``loss(params, *args)``, as a ``Result``; ``loss`` may
        be a value and gradient over data in parts, ``s2s.distributed.value_and_grad(...)``.

        With ``progress`` a terminal shows how far it is. ``callback`` is called after each step with the ``Result``
        that there is then; where it returns True or raises StopIteration, that is the result. Ctrl-C gives what there
        is, too, with ``interrupted`` set.

        ``state`` is that of another run, to go on from its ``params``: two runs are, to the last bit, the one of all
        steps. ``batches`` is a function of the number of steps taken so far that gives arguments, which are passed
        before ``args``. Generators of random numbers among ``args`` are left as they were before the value at the
        result was computed.

        ``frozen`` is that of ``apply_gradients``, which says what is raised; a loss that is not finite raises
        NonFiniteError, too, whose ``result`` has what there was before.

        >>> import numpy as np, s2s
        >>> found = s2s.optim.Adam(0.1).minimize(lambda p: np.sum((p - 3.0) ** 2), np.zeros(2), steps=300)
        >>> found.params.round(4), found.value < 1e-8
        (array([3., 3.]), True)
        """
        if not isinstance(steps, numbers.Integral) or isinstance(steps, bool) or steps < 0:
            raise option_error(f"`steps` is {steps!r}", "give the number of steps")
        for name, function in (("callback", callback), ("batches", batches)):
            if function is not None and not callable(function):
                raise option_error(f"`{name}` is {in_words(function)}", "give a function")
        if any(isinstance(value, Batches) for value in args):
            raise option_error("`Batches` are passed to the loss", "write `batches=` before them")
        has_both = isinstance(loss, PublicValueAndGradient)
        derivative = loss if has_both else value_and_grad(loss)  # refuses what is no function, such as the parameters
        if state is None:
            state = self.init(params)
        self._kept_of(params, state)
        spread(params, frozen)
        run = Run(self, derivative, args, frozen, callback, batches)
        return run.steps(params, state, int(steps), progress)


def _settled(new: Any, before: Any, still: Any, what: str, step: int) -> Any:
    """A new value, which must be finite, and what it was before where that is frozen."""
    if still is False:
        check_finite(new, what, step)
        return as_array(new)
    still = as_array(still, new)
    check_finite(np.where(still, 0, new), what, step)
    return np.where(still, before, new)


def _gradients(params: Any, grads: Any) -> dict[str, Any]:
    """The gradient of each parameter in its dtype, None where there is none."""
    found = {}
    for place, leaf, g in beside(params, grads, "the gradient"):
        found[place] = None if g is None else _gradient(as_array(g), as_array(leaf), place)
    if all(g is None for g in found.values()):
        raise error("S2S606", label="the loss does not depend on the parameters, or `grads` is that of something else")
    return found


def _gradient(g: Any, p: Any, place: str) -> Any:
    if g.dtype.kind not in "iuf" or g.shape != p.shape:
        raise error("S2S601", what="the gradient", place=place, got=in_words(g), expected=in_words(p))
    return g.astype(p.dtype, copy=False)


def _kept(part: Any, leaf: Any, name: str, place: str) -> Any:
    """What a state has for a parameter, if it fits."""
    found, p = as_array(part), as_array(leaf)
    fits = found.shape == p.shape or (name == "steps" and found.ndim == 0)
    if part is None or not fits or found.dtype.kind not in "iuf":
        raise error("S2S601", what=f"the state {name!r}", place=place, got=in_words(part), expected=in_words(p))
    return found if name == "steps" else found.astype(p.dtype, copy=False)


def _correction(beta: float, steps: Any, like: Any) -> Any:
    """What the mean of so many steps has to be divided by, because it began with zero."""
    if steps.ndim == 0:
        return like.dtype.type(1.0 - beta**steps)
    return as_array((1.0 - beta**steps).astype(like.dtype), like)


# --- the optimizers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SGD(Optimizer):
    """Gradient descent: ``p -= learning_rate * g``."""

    learning_rate: Rate = 0.01

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        return p - rate * g, {}


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Gradient descent with momentum (Polyak 1964): ``velocity = momentum * velocity + g``,
    ``p -= learning_rate * velocity``."""

    learning_rate: Rate = 0.01
    momentum: float = 0.9

    keeps = ("velocity",)

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        velocity = self.momentum * kept["velocity"] + g
        return p - rate * velocity, {"velocity": velocity}


@dataclass(frozen=True)
class Nesterov(Optimizer):
    """Nesterov's momentum, with the gradient where the parameters are (Sutskever et al. 2013, in the variables of
    Bengio et al. 2013): ``velocity = momentum * velocity + g``, ``p -= learning_rate * (g + momentum * velocity)``."""

    learning_rate: Rate = 0.01
    momentum: float = 0.9

    keeps = ("velocity",)

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        velocity = self.momentum * kept["velocity"] + g
        return p - rate * (g + self.momentum * velocity), {"velocity": velocity}


@dataclass(frozen=True)
class RMSProp(Optimizer):
    """Steps divided by a running root mean square (Tieleman and Hinton 2012):
    ``mean_square = decay * mean_square + (1 - decay) * g**2``,
    ``p -= learning_rate * g / (sqrt(mean_square) + epsilon)``."""

    learning_rate: Rate = 0.001
    decay: float = 0.9
    epsilon: float = 1e-8

    keeps = ("mean_square",)

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        mean_square = self.decay * kept["mean_square"] + (1.0 - self.decay) * g * g
        return p - rate * g / (np.sqrt(mean_square) + self.epsilon), {"mean_square": mean_square}


@dataclass(frozen=True)
class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squares (Duchi, Hazan and Singer 2011): ``square_sum += g**2``,
    ``p -= learning_rate * g / (sqrt(square_sum) + epsilon)``; the sum begins with ``initial_sum``."""

    learning_rate: Rate = 0.01
    initial_sum: float = 0.0
    epsilon: float = 1e-10

    keeps = ("square_sum",)

    def _begin(self, name: str, p: Any) -> Any:
        return np.full_like(p, self.initial_sum)

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        square_sum = kept["square_sum"] + g * g
        return p - rate * g / (np.sqrt(square_sum) + self.epsilon), {"square_sum": square_sum}


@dataclass(frozen=True)
class Adam(Optimizer):
    """Adam (Kingma and Ba 2015): ``m`` and ``v`` are running means of the gradient and of its square, corrected for
    their beginning with zero by the number of steps that this parameter has taken, ``steps`` in the state:
    ``p -= learning_rate * m_hat / (sqrt(v_hat) + epsilon)``."""

    learning_rate: Rate = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    keeps = ("m", "v", "steps")

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        m = self.beta1 * kept["m"] + (1.0 - self.beta1) * g
        v = self.beta2 * kept["v"] + (1.0 - self.beta2) * g * g
        m_hat = m / _correction(self.beta1, kept["steps"], p)
        v_hat = v / _correction(self.beta2, kept["steps"], p)
        return p - rate * m_hat / (np.sqrt(v_hat) + self.epsilon), {"m": m, "v": v, "steps": kept["steps"]}


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019): before Adam's step,
    ``p -= learning_rate * weight_decay * p``."""

    weight_decay: float = 0.01

    def _update(self, p: Any, g: Any, kept: Kept, rate: float) -> tuple[Any, Kept]:
        return super()._update(p - rate * self.weight_decay * p, g, kept, rate)
