"""Rules of functions of matrices and of matrix equations in ``scipy.linalg``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from s2s import runtime as rt
from s2s.rules.numpy.linalg_eigen import check_real
from s2s.rules.samples import args, arr, takes
from s2s.rules.scipy.linalg import A_STACK, STACK, check_matrix, transposed_matrix
from s2s.rules.table import jvp, kind_by_value, linear, model, requires, vjp, zero

# --- functions of matrices ------------------------------------------------------------------------------------------


def block_triangle(matrix: Any, beside: Any) -> Any:
    """A matrix with another one twice on its diagonal and ``beside`` above it; also of stacks."""
    n = np.shape(matrix)[-1]
    made = np.zeros((*np.shape(matrix)[:-2], 2 * n, 2 * n), dtype=np.result_type(matrix, beside))
    made[..., :n, :n], made[..., n:, n:], made[..., :n, n:] = matrix, matrix, beside
    return made


def block_matrix(y_bar: Any, matrix: Any) -> Any:
    n = np.shape(matrix)[-1]
    return rt.cast(y_bar[..., :n, :n] + y_bar[..., n:, n:], matrix)


def block_beside(y_bar: Any, beside: Any) -> Any:
    n = np.shape(beside)[-1]
    return rt.cast(y_bar[..., :n, n:], beside)


linear(
    block_triangle, matrix=block_matrix, beside=block_beside, params="matrix, beside", joint=True,
    samples=[args(arr(3, 3), arr(3, 3)), args(arr(2, 3, 3), arr(2, 3, 3))],
)


def function_bar(fn: Any, g: Any, a: Any) -> Any:
    """The cotangent of ``a`` from that of a function of matrices ``fn(a)``: its Frechet derivative at the transpose,
    which stands beside the diagonal of the function of a block matrix (N. Higham, "Functions of Matrices", 2008, 3.6).
    """
    n = np.shape(a)[-1]
    return rt.cast(fn(block_triangle(transposed_matrix(a), g))[..., :n, n:], a)


@model(
    scipy.linalg.expm_frechet,
    samples=[
        args(arr(3, 3), arr(3, 3)), args(arr(2, 2), arr(2, 2), compute_expm=False),
        *([args(arr(2, 3, 3), arr(2, 3, 3))] if takes(scipy.linalg.expm_frechet, A_STACK, A_STACK) else []),
    ],
)
def _expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True) -> Any:
    """Above the diagonal of the exponential of a block matrix; also of stacks."""
    n = np.shape(A)[-1]
    both = scipy.linalg.expm(block_triangle(A, E))
    return (both[..., :n, :n], both[..., :n, n:]) if compute_expm else both[..., :n, n:]


@model(scipy.linalg.fractional_matrix_power, samples=[args(arr(3, 3, positive=True), 0.3)])
def _fractional_matrix_power(A: Any, t: Any) -> Any:
    if isinstance(t, int):
        return np.linalg.matrix_power(A, t)
    return scipy.linalg.expm(t * scipy.linalg.logm(A))


def expm_bar(y_bar: Any, A: Any) -> Any:
    if np.ndim(A) == 2:
        return rt.cast(scipy.linalg.expm_frechet(A.T, y_bar, compute_expm=False), A)
    return function_bar(scipy.linalg.expm, y_bar, A)


vjp(
    scipy.linalg.expm, A=expm_bar, params="A",
    samples=[args(arr(3, 3)), args(arr(2, 3, 3)), args(arr(3, 3, complex=True)), args(arr(1, 1))],
)


@jvp(scipy.linalg.expm)
def expm_dot(A: Any, A_dot: Any) -> Any:
    if np.ndim(A) == 2:
        return scipy.linalg.expm_frechet(A, A_dot, compute_expm=False)
    return function_bar(scipy.linalg.expm, A_dot, transposed_matrix(A))


def logm_bar(y_bar: Any, y: Any, A: Any) -> Any:
    check_real(y, A, "scipy.linalg.logm")
    return function_bar(scipy.linalg.logm, y_bar, A)


def sqrtm_bar(y_bar: Any, y: Any, A: Any) -> Any:
    """With y y = A: y dy + dy y = dA, a Sylvester equation, and so is its transpose."""
    check_matrix(A, "scipy.linalg.sqrtm")
    check_real(y, A, "scipy.linalg.sqrtm")
    return scipy.linalg.solve_sylvester(y.T, y.T, y_bar)


SMOOTH = [args(arr(3, 3)), args(arr(3, 3, complex=True)), *STACK]
vjp(scipy.linalg.logm, A=logm_bar, params="A", samples=[args(arr(3, 3, positive=True)), *SMOOTH[1:]])
vjp(scipy.linalg.sqrtm, A=sqrtm_bar, params="A", samples=[args(arr(3, 3, positive=True)), SMOOTH[1]])
vjp(scipy.linalg.sinm, A=lambda y_bar, A: function_bar(scipy.linalg.sinm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.cosm, A=lambda y_bar, A: function_bar(scipy.linalg.cosm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.tanm, A=lambda y_bar, A: function_bar(scipy.linalg.tanm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.sinhm, A=lambda y_bar, A: function_bar(scipy.linalg.sinhm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.coshm, A=lambda y_bar, A: function_bar(scipy.linalg.coshm, y_bar, A), params="A", samples=SMOOTH)
vjp(scipy.linalg.tanhm, A=lambda y_bar, A: function_bar(scipy.linalg.tanhm, y_bar, A), params="A", samples=SMOOTH)

kind_by_value(scipy.linalg.logm, scipy.linalg.sqrtm)  # complex where an eigenvalue is negative

# --- matrix equations -----------------------------------------------------------------------------------------------


def sylvester_q(y_bar: Any, a: Any, b: Any) -> Any:
    """a x + x b = q, and so a^T q_bar + q_bar b^T = x_bar."""
    return scipy.linalg.solve_sylvester(a.T, b.T, y_bar)


vjp(
    scipy.linalg.solve_sylvester, params="a, b, q", q=sylvester_q,
    a=lambda y_bar, y, a, b: -(sylvester_q(y_bar, a, b) @ y.T),
    b=lambda y_bar, y, a, b: -(y.T @ sylvester_q(y_bar, a, b)),
    samples=[
        args(arr(3, 3), arr(2, 2), arr(3, 2)),
        args(arr(2, 2, complex=True), arr(3, 3, complex=True), arr(2, 3, complex=True)),
    ],
)


def lyapunov_q(y_bar: Any, a: Any) -> Any:
    """a x + x a^H = q, and so a^T q_bar + q_bar conj(a) = x_bar."""
    return scipy.linalg.solve_continuous_lyapunov(a.T, y_bar)


def lyapunov_a(y_bar: Any, y: Any, a: Any) -> Any:
    q_bar = lyapunov_q(y_bar, a)
    return -(q_bar @ y.T + np.conj(q_bar.T @ y))


def discrete_lyapunov_q(y_bar: Any, a: Any) -> Any:
    """x = a x a^H + q, and so q_bar = a^T q_bar conj(a) + x_bar."""
    return scipy.linalg.solve_discrete_lyapunov(a.T, y_bar)


def discrete_lyapunov_a(y_bar: Any, y: Any, a: Any) -> Any:
    q_bar = discrete_lyapunov_q(y_bar, a)
    return q_bar @ np.conj(a) @ y.T + np.conj(q_bar.T @ a @ y)


vjp(
    scipy.linalg.solve_continuous_lyapunov, a=lyapunov_a, q=lyapunov_q, params="a, q",
    samples=[args(arr(3, 3), arr(3, 3)), args(arr(3, 3, complex=True), arr(3, 3, complex=True))],
)
vjp(
    scipy.linalg.solve_discrete_lyapunov, a=discrete_lyapunov_a, q=discrete_lyapunov_q, params="a, q, method=None",
    harmless="method",
    samples=[args(arr(3, 3), arr(3, 3)), args(arr(3, 3, complex=True), arr(3, 3, complex=True))],
)

MIXED = "where real and complex matrices come together SciPy does not solve the equation; make all of them complex"


@requires(scipy.linalg.solve_sylvester)
def sylvester_of_one_kind(a: Any, b: Any, q: Any) -> None:
    if not np.iscomplexobj(a) == np.iscomplexobj(b) == np.iscomplexobj(q):
        rt.no_derivative("scipy.linalg.solve_sylvester", MIXED)


@requires(scipy.linalg.solve_continuous_lyapunov)
def lyapunov_of_one_kind(a: Any, q: Any) -> None:
    if np.iscomplexobj(q) and not np.iscomplexobj(a):
        rt.no_derivative("scipy.linalg.solve_continuous_lyapunov", MIXED)

# --- the equations of Riccati -----------------------------------------------------------------------------------------


def continuous_loop(x: Any, a: Any, b: Any, r: Any) -> Any:
    """The gain ``k`` of the feedback, and the system with it: a - b k."""
    gain = np.linalg.solve(r, b.T @ x)
    return gain, a - b @ gain


def continuous_bars(y_bar: Any, x: Any, a: Any, b: Any, r: Any) -> Any:
    """With c the system that is fed back, c^T dx + dx c = -(dq + da^T x + x da - ...): the cotangents of a, b, q and r
    from the solution of the transposed equation."""
    gain, loop = continuous_loop(x, a, b, r)
    q_bar = -scipy.linalg.solve_continuous_lyapunov(loop, y_bar)
    both = q_bar + q_bar.T
    return x @ both, -x @ both @ gain.T, q_bar, gain @ q_bar @ gain.T


def discrete_loop(x: Any, a: Any, b: Any, r: Any) -> Any:
    gain = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
    return gain, a - b @ gain


def discrete_bars(y_bar: Any, x: Any, a: Any, b: Any, r: Any) -> Any:
    """As ``continuous_bars``, for dx - c^T dx c = dq + da^T x c + c^T x da - ..."""
    gain, loop = discrete_loop(x, a, b, r)
    q_bar = scipy.linalg.solve_discrete_lyapunov(loop, y_bar)
    moved = x @ loop @ (q_bar + q_bar.T)
    return moved, -moved @ gain.T, q_bar, gain @ q_bar @ gain.T


RICCATI = [args(arr(2, 2), arr(2, 2), arr(2, 2, positive=True), arr(2, 2, positive=True))]
vjp(
    scipy.linalg.solve_continuous_are, params="a, b, q, r, e=None, s=None, balanced=True",
    a=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[0],
    b=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[1],
    q=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[2],
    r=lambda y_bar, y, a, b, r: continuous_bars(y_bar, y, a, b, r)[3], samples=RICCATI,
)
vjp(
    scipy.linalg.solve_discrete_are, params="a, b, q, r, e=None, s=None, balanced=True",
    a=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[0],
    b=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[1],
    q=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[2],
    r=lambda y_bar, y, a, b, r: discrete_bars(y_bar, y, a, b, r)[3], samples=RICCATI,
)



@requires(scipy.linalg.solve_continuous_are, scipy.linalg.solve_discrete_are)
def real_equation(y: Any) -> None:
    if np.iscomplexobj(y):
        rt.no_derivative("scipy.linalg.solve_continuous_are or solve_discrete_are", "they have rules for real matrices")


for _name in ("bandwidth", "issymmetric", "ishermitian"):
    if hasattr(scipy.linalg, _name):
        zero(getattr(scipy.linalg, _name))
