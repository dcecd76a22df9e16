"""What ``scipy.integrate.solve_ivp`` and ``odeint`` compute: the steps that a solver chose, taken again.

SciPy's solver runs first; how it divides the time is taken for constant, and in proportion to the whole time. The steps
are then taken again in Python that can be differentiated, by the same Runge-Kutta method where it is one. A multistep
method has no steps of its own to take again: one of order eight takes its place, with steps chosen for the same
tolerances, or an implicit one where that is held back by stability. The values are SciPy's, the derivatives are those
of the steps: they are as accurate as the tolerances make the solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2s import runtime as rt
from s2s.models.quadrature import Pieces, looked_at
from s2s.models.solutions import attached, for_value

__all__ = ["Continuous", "Solution", "odeint", "solve_ivp"]

METHODS = "it has a rule for the methods of SciPy: RK45, RK23, DOP853, Radau, BDF, LSODA"
FULL = "it has a rule without full_output"
VECTORIZED = "it has a rule for functions of one state"


# --- methods: y(t + x h) = y + h * (slopes @ (powers @ [x, x^2, ...])) --------------------------------------------


def explicit(method: Any) -> Any:
    """The coefficients of a method of SciPy: of the stages, their places, and the powers within a step. The last stage
    is the slope at the end."""
    n = len(method.B)
    a = np.zeros((n + 1, n + 1))
    a[:n, : np.shape(method.A)[1]], a[n, :n] = method.A, method.B
    return a, np.append(method.C, 1.0), method.P


def of_order_eight() -> Any:
    """As ``explicit``, for DOP853: three more stages, and nested powers of x and 1 - x."""
    method = integrate.DOP853
    n = len(method.B)
    a = np.zeros((n + 4, n + 4))
    a[:n, :n], a[n, :n], a[n + 1 :] = method.A, method.B, method.A_EXTRA
    first, last, whole = np.eye(n + 4)[0], np.eye(n + 4)[n], np.append(method.B, np.zeros(4))
    parts = [whole, first - whole, 2.0 * whole - last - first, *method.D]
    powers, factor = np.zeros((n + 4, len(parts) + 1)), np.polynomial.Polynomial([1.0])
    for k, part in enumerate(parts):
        factor = factor * np.polynomial.Polynomial([1.0, -1.0] if k % 2 else [0.0, 1.0])
        powers[:, : k + 2] += np.outer(part, factor.coef)
    return a, np.concatenate([method.C, [1.0], method.C_EXTRA]), powers[:, 1:]


def collocation() -> Any:
    """As ``explicit``, for the method of Radau: a polynomial of degree three that fulfils the equation at the places.
    """
    at = np.array([(4.0 - np.sqrt(6.0)) / 10.0, (4.0 + np.sqrt(6.0)) / 10.0, 1.0])
    degrees = np.arange(3)
    powers = np.linalg.inv(at[:, None] ** degrees).T / (degrees + 1.0)
    return (at[:, None] ** (degrees + 1.0)) @ powers.T, at, powers


TABLES = {
    "RK23": explicit(integrate.RK23), "RK45": explicit(integrate.RK45), "DOP853": of_order_eight(),
    "Radau": collocation(),
}

KNOWN = (*TABLES, "BDF", "LSODA")


# --- what SciPy's solver finds: constants ----------------------------------------------------------------------------


def solved(slope: Any, span: Any, y0: Any, method: Any, t_eval: Any, options: Any) -> Any:
    """SciPy's solution with its interpolation."""
    return integrate.solve_ivp(slope, (float(span[0]), float(span[1])), y0, method, t_eval, True, **options)


def steps_instead(slope: Any, span: Any, y0: Any, options: Any, count: Any) -> Any:
    """A one-step method and the parts of the time that its steps take, where a multistep method has taken ``count``
    steps: an explicit one that needs more of them is held back by stability."""
    known = {name: options[name] for name in ("rtol", "atol", "max_step") if options.get(name) is not None}
    start, end = float(span[0]), float(span[1])
    solver = integrate.DOP853(slope, start, y0, end, **known)
    times = [start]
    limit = np.inf if np.iscomplexobj(y0) else count + 10  # the implicit method is one for real numbers
    while solver.status == "running" and len(times) <= limit:
        solver.step()
        times.append(solver.t)
    if solver.status == "finished":
        return "DOP853", fractions(times, span)
    return "Radau", fractions(integrate.solve_ivp(slope, (start, end), y0, "Radau", None, True, **known).sol.ts, span)


def fractions(times: Any, span: Any) -> Any:
    """Times as parts of the whole time."""
    return (np.asarray(times) - span[0]) / (span[1] - span[0])


def over(span: Any, parts: Any) -> Any:
    """The times that are parts of the whole time."""
    return span[0] + filled(len(parts), float, parts) * (span[1] - span[0])


def filled(shape: Any, dtype: Any, values: Any) -> Any:
    """An array of a known shape and dtype, with the values of one of which the compiler knows nothing."""
    made = np.zeros(shape, dtype=dtype)
    made[...] = values
    return np.copy(made)


def places(at: Any, times: Any) -> Any:
    """For each time the step that it lies in. Times may decrease."""
    sign = 1.0 if times[-1] >= times[0] else -1.0
    return np.clip(np.searchsorted(sign * times, sign * at) - 1, 0, len(times) - 2)


def slope_matrix(slope: Any, t: Any, y: Any, jac: Any) -> Any:
    """The derivative of the slope by the state: as it was given, or by differences."""
    if jac is not None:
        given = jac(t, y) if callable(jac) else jac
        return given.toarray() if hasattr(given, "toarray") else np.asarray(given)
    here, step = slope(t, y), 1e-7 * np.maximum(1e-3, np.abs(y))
    return np.array([(slope(t, y + e) - here) / e[k] for k, e in enumerate(np.diag(step))]).T


def stages(slope: Any, t: Any, h: Any, y: Any, jac: Any) -> Any:
    """The slopes at the places of an implicit step, by Newton's method, and the inverse that its next step takes."""
    a, at, _ = TABLES["Radau"]
    n = len(y)
    k = np.tile(slope(t, y), (3, 1))
    for _ in range(30):
        inner = y + h * (a @ k)
        wrong = k - np.array([slope(t + at[s] * h, inner[s]) for s in range(3)])
        by_state = [slope_matrix(slope, t + at[s] * h, inner[s], jac) for s in range(3)]
        blocks = [[a[s, j] * by_state[s] for j in range(3)] for s in range(3)]
        inverse = np.linalg.inv(np.eye(3 * n) - h * np.block(blocks))
        change = (inverse @ wrong.ravel()).reshape(3, n)
        k = k - change
        if np.max(np.abs(h * change)) <= 1e-12 * (1e-3 + np.max(np.abs(inner))):
            break
    return k, inverse


def pieces_of_steps(span: Any, parts: Any, slopes: Any, at: Any) -> Any:
    """The pieces of the time that the steps take, with slopes at a place of each as what was seen."""
    base, whole = float(span[0]), float(span[1] - span[0])
    seen = list(zip((base + whole * (parts[:-1] + at[0] * np.diff(parts))).tolist(), slopes))
    ends = tuple(np.asarray(parts).tolist())
    return Pieces("", ends, ends[1:-1], 1e-8, len(ends) + 1, integrate.quad, None, seen, base, whole)


def state_at(u: Any, parts: Any, states: Any) -> Any:
    """A state between those at the ends of steps."""
    j = int(for_value(places, u, parts))
    share = float(for_value(share_of, u, parts, j))
    return states[j] + share * (states[j + 1] - states[j])


def share_of(u: Any, parts: Any, j: Any) -> Any:
    """How far a place is in a step."""
    return (u - parts[j]) / (parts[j + 1] - parts[j])


# --- the steps again --------------------------------------------------------------------------------------------------


class Steps:
    """The steps of a solution: their times, the states there, the slopes within, the coefficients of their powers."""

    def __init__(self, times: Any, states: Any, slopes: Any, powers: Any) -> None:
        self.times = times
        self.states = states
        self.slopes = slopes
        self.powers = powers

    def at(self, t: Any) -> Any:
        """The states at a vector of times, which are the rows."""
        j = filled(np.shape(t), int, places(t, self.times))
        h = self.times[j + 1] - self.times[j]
        x = (t - self.times[j]) / h
        weights = (x[:, None] ** np.arange(1.0, 1.0 + np.shape(self.powers)[1])) @ self.powers.T
        return self.states[j] + h[:, None] * np.einsum("ks,ksd->kd", weights, self.slopes[j])


def again(slope: Any, y0: Any, span: Any, parts: Any, method: Any, jac: Any) -> Any:
    """The steps of a one-step method that take given parts of the time."""
    times = over(span, parts)
    if method == "Radau":
        states, slopes = taken_implicitly(slope, y0, times, jac)
    else:
        states, slopes = taken(slope, y0, times, method)
    _, at, powers = TABLES[method]
    return Steps(times, unless_it_jumps(slope, span, parts, states, slopes, at), slopes, powers)


def unless_it_jumps(slope: Any, span: Any, parts: Any, states: Any, slopes: Any, at: Any) -> Any:
    """The states. Their derivatives are refused where the slope jumps at a place that moves with the state or with what
    else it reads: the derivative of the state jumps there as well, of which no derivative of the slope tells."""
    pieces = for_value(pieces_of_steps, span, parts, slopes[:, 0], at)
    taken = np.copy(states)
    along = lambda u: slope(span[0] + u * (span[1] - span[0]), state_at(u, parts, taken))
    return taken + looked_at(along, pieces, 0.0)


def again_instead(slope: Any, y0: Any, span: Any, found: Any) -> Any:
    """The steps that stand for those of a multistep method."""
    if found[0] == "Radau":
        return again(slope, y0, span, found[1], "Radau", None)
    return again(slope, y0, span, found[1], "DOP853", None)


def taken(slope: Any, y0: Any, times: Any, method: Any) -> Any:
    """The states at the ends of explicit steps, and the slopes within each."""
    a, at, powers = TABLES[method]
    count, size, whole = len(times) - 1, len(y0), np.sum(powers, axis=1)
    states = np.zeros((count + 1, size), dtype=y0.dtype)
    slopes = np.zeros((count, len(at), size), dtype=y0.dtype)
    y = y0
    states[0] = y
    for i in range(count):
        t, h = times[i], times[i + 1] - times[i]
        k = np.zeros((len(at), size), dtype=y0.dtype)
        for s in range(len(at)):
            k[s] = slope(t + at[s] * h, y + h * (a[s, :s] @ k[:s]))
        y = y + h * (whole @ k)
        states[i + 1], slopes[i] = y, k
    return states, slopes


def taken_implicitly(slope: Any, y0: Any, times: Any, jac: Any) -> Any:
    """As ``taken``, for the method of Radau. The slopes that Newton's method has found are constants; three more of its
    steps, each with the same factors, give them their first derivatives and their second ones."""
    a, at, powers = TABLES["Radau"]
    count, size, whole = len(times) - 1, len(y0), np.sum(powers, axis=1)
    states = np.zeros((count + 1, size), dtype=y0.dtype)
    slopes = np.zeros((count, 3, size), dtype=y0.dtype)
    y = y0
    states[0] = y
    for i in range(count):
        t, h = times[i], times[i + 1] - times[i]
        found = stages(slope, t, h, y, jac)
        k, inverse = filled((3, size), y0.dtype, found[0]), filled((3 * size, 3 * size), y0.dtype, found[1])
        for _ in range(3):
            inner = y + h * (a @ k)
            values = np.zeros((3, size), dtype=y0.dtype)
            for s in range(3):
                values[s] = slope(t + at[s] * h, inner[s])
            k = k - np.reshape(inverse @ np.ravel(k - values), (3, size))
        y = y + h * (whole @ k)
        states[i + 1], slopes[i] = y, k
    return states, slopes


class Continuous:
    """A solution as a function of time: SciPy's values, the derivatives of the steps."""

    def __init__(self, found: Any, steps: Any) -> None:
        self.found = found
        self.steps = steps

    def __call__(self, t: Any) -> Any:
        rows = self.steps.at(np.atleast_1d(np.asarray(t)))
        y = np.transpose(rows) if np.ndim(t) > 0 else rows[0]
        return of_value(y, values_at(self.found, t))


class Solution:
    """What ``solve_ivp`` gives."""

    def __init__(self, found: Any, t: Any, y: Any, sol: Any) -> None:
        self.t = t
        self.y = y
        self.sol = sol
        self.t_events: Any = None
        self.y_events: Any = None
        self.nfev = found.nfev
        self.njev = found.njev
        self.nlu = found.nlu
        self.status = found.status
        self.message = found.message
        self.success = found.success

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name)


def of_value(y: Any, value: Any) -> Any:
    """``y`` with a value that differs from its own by what solvers may differ."""
    return y + filled(np.shape(y), y.dtype, difference(value, y))


def difference(value: Any, y: Any) -> Any:
    """A constant."""
    return value - y


def values_at(found: Any, t: Any) -> Any:
    """What SciPy's interpolation gives."""
    return found.sol(t)


def state_of(y0: Any) -> Any:
    """A state of floats or complex numbers."""
    y = np.asarray(y0)
    return y if np.iscomplexobj(y) else np.asarray(y, dtype=np.float64)


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: Any = False,
    events: Any = None, vectorized: Any = False, args: Any = None, **options: Any,
) -> Any:
    if vectorized:
        return rt.no_derivative("scipy.integrate.solve_ivp with vectorized=True", VECTORIZED)
    if not isinstance(method, str):
        method = method.__name__
    if method not in KNOWN:
        return rt.no_derivative("scipy.integrate.solve_ivp", METHODS)
    more = () if args is None else args
    y0, span = state_of(y0), (t_span[0], t_span[1])

    def slope(t: Any, y: Any) -> Any:
        return np.asarray(fun(t, y, *more))

    if callable(options.get("jac")):
        by_state = options["jac"]
        options = {**options, "jac": lambda t, y: by_state(t, y, *more)}
    if events is not None:
        whole = (float(span[0]), float(span[1]))
        found = for_value(
            integrate.solve_ivp, fun, whole, y0, method, t_eval, True, events, False, args, **options)
        ended = float(for_value(has_ended, found))
        span = (span[0], (1.0 - ended) * span[1] + ended * float(for_value(last, found)))
    else:
        found = solved(slope, span, y0, method, t_eval, options)
    if method in TABLES:
        steps = again(slope, y0, span, fractions(found.sol.ts, span), method, options.get("jac"))
    else:
        steps = again_instead(slope, y0, span, steps_instead(slope, span, y0, options, len(found.sol.ts)))
    t = over(span, fractions(found.t, span)) if t_eval is None else np.asarray(t_eval)[: len(found.t)]
    if events is not None:
        return solution_with_events(found, steps, t, t_eval, events if callable(events) else tuple(events), more,
                                    dense_output)
    y = of_value(np.transpose(steps.at(t)), found.y)
    return Solution(found, t, y, Continuous(found, steps) if dense_output else None)


def solution_with_events(
    found: Any, steps: Any, t: Any, t_eval: Any, events: Any, more: Any, dense_output: Any
) -> Any:
    """As ``Solution``, with the times at which events happen: where the functions of the events are zero."""
    every = (events,) if callable(events) else events
    times, states = [], []
    for k, event in enumerate(every):
        count = int(for_value(count_of, found, k))
        at = times_of_event(event, steps, filled((count,), float, for_value(at_events, found, k)), more)
        times.append(at)
        states.append(of_value(steps.at(at), for_value(states_at, found, k)))
        if t_eval is None:
            moved = np.sum(filled((count,), float, for_value(is_end, found, k)) * at)
            t = t + filled(np.shape(t), float, for_value(ends, found, t)) * (moved - detached(moved))
    made = Solution(found, t, of_value(np.transpose(steps.at(t)), found.y), None)
    made.sol = Continuous(found, steps) if dense_output else None
    made.t_events = times
    made.y_events = states
    return made


def times_of_event(event: Any, steps: Any, found: Any, more: Any) -> Any:
    def wrong(t: Any) -> Any:
        rows = steps.at(t)
        return np.array([float(event(t[i], rows[i], *more)) for i in range(len(t))])

    return attached(wrong, found, by_elements)


def by_elements(product: Any, b: Any) -> Any:
    """The solution of a linear system whose matrix is diagonal."""
    return b / product(np.ones_like(b))


def detached(x: Any) -> Any:
    return for_value(np.copy, x)


# --- what SciPy has found of events: constants ----------------------------------------------------------------------


def has_ended(found: Any) -> Any:
    return found.status == 1


def last(found: Any) -> Any:
    return found.sol.ts[-1]


def count_of(found: Any, k: Any) -> Any:
    return len(found.t_events[k])


def at_events(found: Any, k: Any) -> Any:
    return found.t_events[k]


def states_at(found: Any, k: Any) -> Any:
    return np.reshape(found.y_events[k], (len(found.t_events[k]), -1)) if len(found.t_events[k]) else np.zeros(
        (0, found.y.shape[0]))


def is_end(found: Any, k: Any) -> Any:
    """For each time of an event, whether the solution ends there by it."""
    return (found.t_events[k] == found.sol.ts[-1]) * float(found.status == 1)


def ends(found: Any, t: Any) -> Any:
    """For each time, whether it is the last."""
    return np.arange(len(t)) == len(t) - 1


def odeint(
    func: Any, y0: Any, t: Any, args: Any = (), Dfun: Any = None, col_deriv: Any = 0, full_output: Any = 0,
    ml: Any = None, mu: Any = None, rtol: Any = None, atol: Any = None, tcrit: Any = None, h0: Any = 0.0,
    hmax: Any = 0.0, hmin: Any = 0.0, ixpr: Any = 0, mxstep: Any = 0, mxhnil: Any = 0, mxordn: Any = 12,
    mxords: Any = 5, printmessg: Any = 0, tfirst: Any = False,
) -> Any:
    if full_output:
        return rt.no_derivative("scipy.integrate.odeint", FULL)
    more = args if isinstance(args, tuple) else (args,)
    y0, t = np.atleast_1d(state_of(y0)), np.asarray(t)

    def slope(t: Any, y: Any) -> Any:
        return np.asarray(func(t, y, *more) if tfirst else func(y, t, *more))

    options = {"rtol": rtol, "atol": atol, "tcrit": tcrit, "h0": h0, "hmax": hmax, "hmin": hmin, "mxstep": mxstep,
               "mxordn": mxordn, "mxords": mxords, "ml": ml, "mu": mu}
    span = (t[0], t[-1])
    found, count = solved_by_odeint(slope, y0, t, options)
    tolerances = {"rtol": 1.49012e-8 if rtol is None else rtol, "atol": 1.49012e-8 if atol is None else atol,
                  "max_step": hmax if hmax else None}
    steps = again_instead(slope, y0, span, steps_instead(slope, span, y0, tolerances, count))
    return of_value(steps.at(t), found)


def solved_by_odeint(slope: Any, y0: Any, t: Any, options: Any) -> Any:
    """What ``odeint`` gives, and in how many steps."""
    found, counts = integrate.odeint(slope, y0, t, full_output=True, tfirst=True, **options)
    return found, counts["nst"][-1]
