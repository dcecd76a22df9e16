"""Skinning, as in hand tracking: bones that turn at their joints carry vertices, which should lie at given points."""

import numpy as np

from benchmarks.case import Case, wave


def turn(angles):
    """The rotation about x, then y, then z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    return about_z @ about_y @ about_x


def hand_loss(angles, shift, relatives, parents, inverses, base, weights, points):
    """Angles (bones, 3), the hand's place (3), transforms (bones, 4, 4), vertices (4, n), weights (bones, n)."""
    absolutes = []
    for k in range(len(parents)):
        local = np.eye(4)
        local[:3, :3] = turn(angles[k])
        relative = relatives[k] @ local
        if parents[k] < 0:
            absolutes.append(relative)
        else:
            absolutes.append(absolutes[parents[k]] @ relative)
    positions = np.zeros((3, base.shape[1]))
    for k in range(len(parents)):
        transform = absolutes[k] @ inverses[k]
        positions += (transform[:3] @ base) * weights[k]
    return np.sum((positions + shift[:, np.newaxis] - points) ** 2)


def arguments(fingers, joints, n):
    bones = 1 + fingers * joints
    parents = np.array([-1] + [0 if k % joints == 0 else k for k in range(fingers * joints)])
    relatives = np.tile(np.eye(4), (bones, 1, 1))
    relatives[:, :3, 3] = 0.5 * wave(bones, 3)
    inverses = np.tile(np.eye(4), (bones, 1, 1))
    inverses[:, :3, 3] = 0.5 * wave(bones, 3, phase=1.0)
    base = np.ones((4, n))
    base[:3] = wave(3, n, phase=2.0)
    weights = wave(bones, n, phase=3.0) ** 2
    return (0.3 * wave(bones, 3, phase=4.0), wave(3), relatives, parents, inverses, base,
            weights / np.sum(weights, axis=0), wave(3, n, phase=5.0))  # fmt: skip


def in_jax():
    import jax
    import jax.numpy as jnp

    def turned(angles):
        (cx, cy, cz), (sx, sy, sz) = jnp.cos(angles), jnp.sin(angles)
        return jnp.array([
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, 0.0],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, 0.0],
            [-sy, cy * sx, cy * cx, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ])

    def loss(angles, shift, relatives, parents, inverses, base, weights, points):
        relative = relatives @ jax.vmap(turned)(angles)

        def step(k, absolutes):
            parent = jnp.where(parents[k] < 0, jnp.eye(4), absolutes[parents[k]])
            return absolutes.at[k].set(parent @ relative[k])

        absolutes = jax.lax.fori_loop(0, len(parents), step, jnp.zeros_like(relatives))
        transforms = (absolutes @ inverses)[:, :3]
        positions = jnp.einsum("kij,jn,kn->in", transforms, base, weights)
        return jnp.sum((positions + shift[:, None] - points) ** 2)

    return loss


def by_hand(angles, shift, relatives, parents, inverses, base, weights, points):
    bones = len(parents)
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles).T, np.sin(angles).T
    locals_ = np.tile(np.eye(4), (bones, 1, 1))
    locals_[:, 0, 0], locals_[:, 0, 1], locals_[:, 0, 2] = cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx
    locals_[:, 1, 0], locals_[:, 1, 1], locals_[:, 1, 2] = sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx
    locals_[:, 2, 0], locals_[:, 2, 1], locals_[:, 2, 2] = -sy, cy * sx, cy * cx
    relative = relatives @ locals_
    absolutes = np.empty_like(relative)
    for k in range(bones):
        absolutes[k] = relative[k] if parents[k] < 0 else absolutes[parents[k]] @ relative[k]
    transforms = (absolutes @ inverses)[:, :3]
    weighted = (weights[:, np.newaxis] * base).reshape(bones * 4, -1)
    bar = 2.0 * (transforms.transpose(1, 0, 2).reshape(3, -1) @ weighted + shift[:, np.newaxis] - points)
    absolutes_bar = np.zeros_like(absolutes)
    absolutes_bar[:, :3] = (bar @ weighted.T).reshape(3, bones, 4).transpose(1, 0, 2) @ inverses.transpose(0, 2, 1)
    relative_bar = np.empty_like(relative)
    for k in range(bones - 1, -1, -1):
        relative_bar[k] = absolutes_bar[k]
        if parents[k] >= 0:
            relative_bar[k] = absolutes[parents[k]].T @ absolutes_bar[k]
            absolutes_bar[parents[k]] += absolutes_bar[k] @ relative[k].T
    g = relatives.transpose(0, 2, 1) @ relative_bar
    r, angles_bar = locals_, np.empty_like(angles)
    angles_bar[:, 0] = (g[:, 0, 1] * r[:, 0, 2] - g[:, 0, 2] * r[:, 0, 1] + g[:, 1, 1] * r[:, 1, 2]
                        - g[:, 1, 2] * r[:, 1, 1] + g[:, 2, 1] * r[:, 2, 2] - g[:, 2, 2] * r[:, 2, 1])  # fmt: skip
    angles_bar[:, 1] = (
        -sy * (cz * g[:, 0, 0] + sz * g[:, 1, 0]) - cy * g[:, 2, 0]
        + cy * (sx * (cz * g[:, 0, 1] + sz * g[:, 1, 1]) + cx * (cz * g[:, 0, 2] + sz * g[:, 1, 2]))
        - sy * (sx * g[:, 2, 1] + cx * g[:, 2, 2])
    )  # fmt: skip
    angles_bar[:, 2] = np.einsum("ki,ki->k", g[:, 1, :3], r[:, 0, :3]) - np.einsum(
        "ki,ki->k", g[:, 0, :3], r[:, 1, :3])
    return angles_bar, np.sum(bar, axis=1)


def turn_by_statement(angles, turned_bar):
    """The cotangent of the angles."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    product = about_z @ about_y
    product_bar, about_x_bar = turned_bar @ about_x.T, product.T @ turned_bar
    about_z_bar, about_y_bar = product_bar @ about_y.T, about_z.T @ product_bar
    cz_bar, sz_bar = about_z_bar[0, 0] + about_z_bar[1, 1], about_z_bar[1, 0] - about_z_bar[0, 1]
    cy_bar, sy_bar = about_y_bar[0, 0] + about_y_bar[2, 2], about_y_bar[0, 2] - about_y_bar[2, 0]
    cx_bar, sx_bar = about_x_bar[1, 1] + about_x_bar[2, 2], about_x_bar[2, 1] - about_x_bar[1, 2]
    cosines_bar, sines_bar = np.array([cx_bar, cy_bar, cz_bar]), np.array([sx_bar, sy_bar, sz_bar])
    return sines_bar * np.cos(angles) - cosines_bar * np.sin(angles)


def by_statement(angles, shift, relatives, parents, inverses, base, weights, points):
    """The adjoint of each statement after the other, all values kept."""
    absolutes, locals_, kept = [], [], []
    for k in range(len(parents)):
        local = np.eye(4)
        local[:3, :3] = turn(angles[k])
        relative = relatives[k] @ local
        locals_.append(relative)
        if parents[k] < 0:
            absolutes.append(relative)
        else:
            absolutes.append(absolutes[parents[k]] @ relative)
    positions = np.zeros((3, base.shape[1]))
    for k in range(len(parents)):
        transform = absolutes[k] @ inverses[k]
        carried = transform[:3] @ base
        positions += carried * weights[k]
        kept.append((transform, carried))
    error = positions + shift[:, np.newaxis] - points
    error_bar = 2.0 * error
    shift_bar = np.sum(error_bar, axis=1)
    absolutes_bar = [np.zeros((4, 4)) for _ in parents]
    for k in range(len(parents) - 1, -1, -1):
        transform, _ = kept[k]
        carried_bar = error_bar * weights[k]
        transform_bar = np.zeros_like(transform)
        transform_bar[:3] += carried_bar @ base.T
        absolutes_bar[k] += transform_bar @ inverses[k].T
    angles_bar = np.zeros_like(angles)
    for k in range(len(parents) - 1, -1, -1):
        if parents[k] < 0:
            relative_bar = absolutes_bar[k]
        else:
            absolutes_bar[parents[k]] += absolutes_bar[k] @ locals_[k].T
            relative_bar = absolutes[parents[k]].T @ absolutes_bar[k]
        local_bar = relatives[k].T @ relative_bar
        angles_bar[k] += turn_by_statement(angles[k], local_bar[:3, :3])
    return angles_bar, shift_bar


CASE = Case("hand_tracking", hand_loss, (0, 1), arguments, small=(2, 2, 5), large=(5, 4, 4000), jax=in_jax,
            hand_numpy=by_hand, by_statement=by_statement, rewritten=True)  # fmt: skip
