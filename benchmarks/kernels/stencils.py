"""Kernels on grids. A kernel changes the arrays that it is given; a loss copies them and gives a number."""

import numpy as np

# --- Jacobi -----------------------------------------------------------------------------------------------------------


def jacobi(u, f, h, sweeps):
    """Sweeps for the Poisson equation on a square; the values on the boundary stay."""
    new = u.copy()
    for _ in range(sweeps):
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - h * h * f[1:-1, 1:-1])
        u, new = new, u
    return u


def jacobi_loss(u, f, h, sweeps):
    u = jacobi(u.copy(), f, h, sweeps)
    return np.sum(u * u)


# --- heat -------------------------------------------------------------------------------------------------------------


def heat_1d(u, r, steps):
    """Explicit steps on a rod with fixed ends, in place."""
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2.0 * u[1:-1] + u[:-2])


def heat_1d_loss(u, r, steps):
    u = u.copy()
    heat_1d(u, r, steps)
    return np.sum(u * u)


def heat_2d(u, k, dt, steps):
    """Explicit steps on a plate whose conductivity ``k`` differs from place to place; the rim is insulated."""
    flux_x, flux_y = np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        flux_x[:-1] = 0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1])
        flux_y[:, :-1] = 0.5 * (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
        u += dt * (flux_x + flux_y)
        u[1:] -= dt * flux_x[:-1]
        u[:, 1:] -= dt * flux_y[:, :-1]


def heat_2d_loss(u, k, dt, steps):
    u = u.copy()
    heat_2d(u, k, dt, steps)
    return np.sum(u * u)


def heat_3d(a, b, r, steps):
    """Pairs of explicit steps in a box, from one array into the other and back."""
    inner = (slice(1, -1), slice(1, -1), slice(1, -1))
    for _ in range(steps):
        b[inner] = a[inner] + r * (
            (a[2:, 1:-1, 1:-1] - 2.0 * a[inner] + a[:-2, 1:-1, 1:-1])
            + (a[1:-1, 2:, 1:-1] - 2.0 * a[inner] + a[1:-1, :-2, 1:-1])
            + (a[1:-1, 1:-1, 2:] - 2.0 * a[inner] + a[1:-1, 1:-1, :-2])
        )
        a[inner] = b[inner] + r * (
            (b[2:, 1:-1, 1:-1] - 2.0 * b[inner] + b[:-2, 1:-1, 1:-1])
            + (b[1:-1, 2:, 1:-1] - 2.0 * b[inner] + b[1:-1, :-2, 1:-1])
            + (b[1:-1, 1:-1, 2:] - 2.0 * b[inner] + b[1:-1, 1:-1, :-2])
        )


def heat_3d_loss(a, r, steps):
    a = a.copy()
    heat_3d(a, a.copy(), r, steps)
    return np.sum(a * a)


# --- Gauss-Seidel -----------------------------------------------------------------------------------------------------


def gauss_seidel(u, f, h, omega, sweeps):
    """Sweeps with over-relaxation, element by element: new values are used as soon as they are there."""
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] += omega * (0.25 * (around - h * h * f[i, j]) - u[i, j])


def gauss_seidel_loss(u, f, h, omega, sweeps):
    u = u.copy()
    gauss_seidel(u, f, h, omega, sweeps)
    return np.sum(u * u)


# --- alternating directions -------------------------------------------------------------------------------------------


def adi(u, r, steps):
    """Diffusion with alternating directions: each half step solves tridiagonal systems, all lines at once."""
    n = u.shape[0]
    half = np.zeros_like(u)
    p, q = np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        p[0], q[0] = 0.0, 0.0
        for i in range(1, n - 1):
            right = r * u[i, :-2] + (1.0 - 2.0 * r) * u[i, 1:-1] + r * u[i, 2:]
            below = 1.0 + 2.0 * r - r * p[i - 1, 1:-1]
            p[i, 1:-1] = r / below
            q[i, 1:-1] = (right + r * q[i - 1, 1:-1]) / below
        for i in range(n - 2, 0, -1):
            half[i, 1:-1] = p[i, 1:-1] * half[i + 1, 1:-1] + q[i, 1:-1]
        p[:, 0], q[:, 0] = 0.0, 0.0
        for j in range(1, n - 1):
            right = r * half[:-2, j] + (1.0 - 2.0 * r) * half[1:-1, j] + r * half[2:, j]
            below = 1.0 + 2.0 * r - r * p[1:-1, j - 1]
            p[1:-1, j] = r / below
            q[1:-1, j] = (right + r * q[1:-1, j - 1]) / below
        u[:, -1] = 0.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def adi_loss(u, r, steps):
    u = u.copy()
    adi(u, r, steps)
    return np.sum(u * u)


# --- Maxwell ----------------------------------------------------------------------------------------------------------


def maxwell_tm(ez, hx, hy, eps, courant, steps):
    """Yee's scheme in two dimensions, transverse magnetic, with a source in the middle and conducting walls."""
    mid_x, mid_y = ez.shape[0] // 2, ez.shape[1] // 2
    for t in range(steps):
        hx[:, :-1] -= courant * (ez[:, 1:] - ez[:, :-1])
        hy[:-1, :] += courant * (ez[1:, :] - ez[:-1, :])
        curl = hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]
        ez[1:-1, 1:-1] += courant / eps[1:-1, 1:-1] * curl
        ez[mid_x, mid_y] += np.sin(0.3 * t)


def maxwell_tm_loss(ez, eps, courant, steps):
    ez = ez.copy()
    hx, hy = np.zeros_like(ez), np.zeros_like(ez)
    maxwell_tm(ez, hx, hy, eps, courant, steps)
    return np.sum(eps * ez * ez) + np.sum(hx * hx + hy * hy)


# --- shallow water ----------------------------------------------------------------------------------------------------


def shallow_water(h, u, v, gravity, dt, steps):
    """Explicit steps of height and velocities between walls, with a little smoothing."""
    for _ in range(steps):
        dh_x, dh_y = h[2:, 1:-1] - h[:-2, 1:-1], h[1:-1, 2:] - h[1:-1, :-2]
        du_x, du_y = u[2:, 1:-1] - u[:-2, 1:-1], u[1:-1, 2:] - u[1:-1, :-2]
        dv_x, dv_y = v[2:, 1:-1] - v[:-2, 1:-1], v[1:-1, 2:] - v[1:-1, :-2]
        hi, ui, vi = h[1:-1, 1:-1], u[1:-1, 1:-1], v[1:-1, 1:-1]
        rate_h = ui * dh_x + vi * dh_y + hi * (du_x + dv_y)
        rate_u = ui * du_x + vi * du_y + gravity * dh_x
        rate_v = ui * dv_x + vi * dv_y + gravity * dh_y
        hi -= 0.5 * dt * rate_h
        ui -= 0.5 * dt * rate_u
        vi -= 0.5 * dt * rate_v
        hi += 0.02 * (h[2:, 1:-1] + h[:-2, 1:-1] + h[1:-1, 2:] + h[1:-1, :-2] - 4.0 * hi)
        h[0], h[-1], h[:, 0], h[:, -1] = h[1], h[-2], h[:, 1], h[:, -2]
        u[0], u[-1] = 0.0, 0.0
        v[:, 0], v[:, -1] = 0.0, 0.0


def shallow_water_loss(h, u, v, gravity, dt, steps):
    h, u, v = h.copy(), u.copy(), v.copy()
    shallow_water(h, u, v, gravity, dt, steps)
    return 0.5 * np.sum(h * (u * u + v * v)) + 0.5 * gravity * np.sum(h * h)


# --- cavity flow ------------------------------------------------------------------------------------------------------


def pressure(p, b, dx, sweeps):
    """Relax the pressure against the source ``b``; no gradient at three walls, zero at the lid."""
    for _ in range(sweeps):
        old = p.copy()
        around = old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]
        p[1:-1, 1:-1] = 0.25 * (around - dx * dx * b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0.0


def cavity(u, v, p, nu, dx, dt, steps, sweeps):
    """Viscous flow in a box whose lid moves, by projection steps."""
    b = np.zeros_like(u)
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        ux = (un[1:-1, 2:] - un[1:-1, :-2]) / (2.0 * dx)
        vy = (vn[2:, 1:-1] - vn[:-2, 1:-1]) / (2.0 * dx)
        uy = (un[2:, 1:-1] - un[:-2, 1:-1]) / (2.0 * dx)
        vx = (vn[1:-1, 2:] - vn[1:-1, :-2]) / (2.0 * dx)
        b[1:-1, 1:-1] = (ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2
        pressure(p, b, dx, sweeps)
        ui, vi = un[1:-1, 1:-1], vn[1:-1, 1:-1]
        u[1:-1, 1:-1] = (
            ui - dt / dx * (ui * (ui - un[1:-1, :-2]) + vi * (ui - un[:-2, 1:-1]))
            - 0.5 * dt / dx * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4.0 * ui)
        )  # fmt: skip
        v[1:-1, 1:-1] = (
            vi - dt / dx * (ui * (vi - vn[1:-1, :-2]) + vi * (vi - vn[:-2, 1:-1]))
            - 0.5 * dt / dx * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1] - 4.0 * vi)
        )  # fmt: skip
        u[0, :], u[:, 0], u[:, -1] = 0.0, 0.0, 0.0
        v[0, :], v[-1, :], v[:, 0], v[:, -1] = 0.0, 0.0, 0.0, 0.0
        u[-1, :] = 1.0


def cavity_loss(u, v, nu, dx, dt, steps, sweeps):
    u, v = u.copy(), v.copy()
    p = np.zeros_like(u)
    cavity(u, v, p, nu, dx, dt, steps, sweeps)
    return np.sum(u * u + v * v) + np.sum(p * p)
