"""Bundle adjustment, as in ADBench: how far points that cameras see are from where they should be seen.

A camera is a row of eleven numbers: a rotation as a vector, its center, a focal length, a principal point, and two
coefficients of radial distortion.
"""

import numpy as np

from benchmarks.case import Case, wave


def rotated(rotation, point):
    """By the formula of Rodrigues."""
    square = np.sum(rotation * rotation)
    if square == 0.0:
        return point + np.cross(rotation, point)
    angle = np.sqrt(square)
    axis = rotation / angle
    cosine = np.cos(angle)
    return point * cosine + np.cross(axis, point) * np.sin(angle) + axis * (np.dot(axis, point) * (1.0 - cosine))


def projected(camera, point):
    """Where in its image a camera sees a point."""
    seen = rotated(camera[:3], point - camera[3:6])
    flat = seen[:2] / seen[2]
    square = np.sum(flat * flat)
    return camera[6] * (1.0 + camera[9] * square + camera[10] * square * square) * flat + camera[7:9]


def bundle_loss(cameras, points, weights, places, features):
    """Half the sum of squares over observations ``places`` (n, 2), of a camera and a point each, and of weights."""
    total = 0.0
    for i in range(len(places)):
        error = weights[i] * (projected(cameras[places[i, 0]], points[places[i, 1]]) - features[i])
        total += 0.5 * np.sum(error * error) + 0.5 * (1.0 - weights[i] ** 2) ** 2
    return total


def arguments(cameras, points, seen):
    views = 0.1 * wave(cameras, 11)
    views[:, 5] -= 4.0
    views[:, 6] += 1.5
    count = cameras * seen
    places = np.stack((np.arange(count) % cameras, (7 * np.arange(count) // cameras) % points), axis=1)
    return views, wave(points, 3, phase=1.0), 0.8 + 0.1 * wave(count), places, wave(count, 2, phase=2.0)


def in_jax():
    import jax
    import jax.numpy as jnp

    def project(camera, point):
        rotation, moved = camera[:3], point - camera[3:6]
        angle = jnp.sqrt(jnp.sum(rotation * rotation))
        axis, cosine = rotation / angle, jnp.cos(angle)
        seen = moved * cosine + jnp.cross(axis, moved) * jnp.sin(angle) + axis * ((axis @ moved) * (1.0 - cosine))
        flat = seen[:2] / seen[2]
        square = jnp.sum(flat * flat)
        return camera[6] * (1.0 + camera[9] * square + camera[10] * square * square) * flat + camera[7:9]

    def loss(cameras, points, weights, places, features):
        found = jax.vmap(project)(cameras[places[:, 0]], points[places[:, 1]])
        error = weights[:, None] * (found - features)
        return 0.5 * jnp.sum(error * error) + 0.5 * jnp.sum((1.0 - weights**2) ** 2)

    return loss


def by_hand(cameras, points, weights, places, features):
    """All observations at a time."""
    camera = cameras[places[:, 0]]
    moved = points[places[:, 1]] - camera[:, 3:6]
    angle = np.sqrt(np.sum(camera[:, :3] ** 2, axis=1, keepdims=True))
    axis, cosine, sine = camera[:, :3] / angle, np.cos(angle), np.sin(angle)
    across, along = np.cross(axis, moved), np.sum(axis * moved, axis=1, keepdims=True)
    seen = moved * cosine + across * sine + axis * along * (1.0 - cosine)
    flat, focal = seen[:, :2] / seen[:, 2:], camera[:, 6:7]
    square = np.sum(flat * flat, axis=1, keepdims=True)
    bend = 1.0 + camera[:, 9:10] * square + camera[:, 10:] * square**2
    error = focal * bend * flat + camera[:, 7:9] - features
    weights_bar = weights * np.sum(error * error, axis=1) - 2.0 * weights * (1.0 - weights**2)
    bar = weights[:, np.newaxis] ** 2 * error
    inner = np.sum(bar * flat, axis=1, keepdims=True)
    bend_bar = focal * inner
    square_bar = bend_bar * (camera[:, 9:10] + 2.0 * camera[:, 10:] * square)
    flat_bar = focal * bend * bar + 2.0 * square_bar * flat
    seen_bar = np.empty_like(seen)
    seen_bar[:, :2] = flat_bar / seen[:, 2:]
    seen_bar[:, 2] = -np.sum(flat_bar * seen[:, :2], axis=1) / seen[:, 2] ** 2
    against = np.sum(axis * seen_bar, axis=1, keepdims=True)
    moved_bar = seen_bar * cosine - np.cross(axis, seen_bar) * sine + axis * against * (1.0 - cosine)
    axis_bar = sine * np.cross(moved, seen_bar) + (1.0 - cosine) * (along * seen_bar + against * moved)
    angle_bar = np.sum(seen_bar * (across * cosine - moved * sine), axis=1, keepdims=True) + against * along * sine
    camera_bar = np.empty_like(camera)
    camera_bar[:, :3] = angle_bar * axis + (axis_bar - axis * np.sum(axis * axis_bar, axis=1, keepdims=True)) / angle
    camera_bar[:, 3:6] = -moved_bar
    camera_bar[:, 6:7] = bend * inner
    camera_bar[:, 7:9] = bar
    camera_bar[:, 9:10] = bend_bar * square
    camera_bar[:, 10:] = bend_bar * square**2
    cameras_bar, points_bar = np.zeros_like(cameras), np.zeros_like(points)
    np.add.at(cameras_bar, places[:, 0], camera_bar)
    np.add.at(points_bar, places[:, 1], moved_bar)
    return cameras_bar, points_bar, weights_bar


def by_hand_in_loops(cameras, points, weights, places, features):
    """One observation after the other, in numbers."""
    cameras_bar, points_bar = np.zeros_like(cameras), np.zeros_like(points)
    weights_bar = np.empty_like(weights)
    axis, moved, across, seen, bars = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(len(places)):
        c, p, w = cameras[places[i, 0]], points[places[i, 1]], weights[i]
        c_bar, p_bar = cameras_bar[places[i, 0]], points_bar[places[i, 1]]
        angle = np.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
        cosine, sine = np.cos(angle), np.sin(angle)
        for k in range(3):
            axis[k], moved[k] = c[k] / angle, p[k] - c[3 + k]
        along = axis[0] * moved[0] + axis[1] * moved[1] + axis[2] * moved[2]
        for k in range(3):
            m, n = (k + 1) % 3, (k + 2) % 3
            across[k] = axis[m] * moved[n] - axis[n] * moved[m]
            seen[k] = moved[k] * cosine + across[k] * sine + axis[k] * along * (1.0 - cosine)
        u, v = seen[0] / seen[2], seen[1] / seen[2]
        square = u * u + v * v
        bend = 1.0 + c[9] * square + c[10] * square * square
        error_u, error_v = c[6] * bend * u + c[7] - features[i, 0], c[6] * bend * v + c[8] - features[i, 1]
        weights_bar[i] = w * (error_u * error_u + error_v * error_v) - 2.0 * w * (1.0 - w * w)
        bar_u, bar_v = w * w * error_u, w * w * error_v
        inner = bar_u * u + bar_v * v
        c_bar[6] += bend * inner
        c_bar[7] += bar_u
        c_bar[8] += bar_v
        bend_bar = c[6] * inner
        c_bar[9] += bend_bar * square
        c_bar[10] += bend_bar * square * square
        square_bar = 2.0 * bend_bar * (c[9] + 2.0 * c[10] * square)
        u_bar, v_bar = c[6] * bend * bar_u + square_bar * u, c[6] * bend * bar_v + square_bar * v
        bars[0], bars[1], bars[2] = u_bar / seen[2], v_bar / seen[2], -(u_bar * u + v_bar * v) / seen[2]
        against = axis[0] * bars[0] + axis[1] * bars[1] + axis[2] * bars[2]
        angle_bar = against * along * sine
        turned = 0.0
        for k in range(3):
            m, n = (k + 1) % 3, (k + 2) % 3
            angle_bar += bars[k] * (across[k] * cosine - moved[k] * sine)
            back = bars[k] * cosine - (axis[m] * bars[n] - axis[n] * bars[m]) * sine
            back += axis[k] * against * (1.0 - cosine)
            p_bar[k] += back
            c_bar[3 + k] -= back
            axis_bar = sine * (moved[m] * bars[n] - moved[n] * bars[m])
            axis_bar += (1.0 - cosine) * (along * bars[k] + against * moved[k])
            seen[k] = axis_bar
            turned += axis[k] * axis_bar
        for k in range(3):
            c_bar[k] += angle_bar * axis[k] + (seen[k] - axis[k] * turned) / angle
    return cameras_bar, points_bar, weights_bar


def by_statement(cameras, points, weights, places, features):
    """The adjoint of each statement after the other, all values kept; all cameras are turned."""
    kept = []
    for i in range(len(places)):
        camera, point = cameras[places[i, 0]], points[places[i, 1]]
        rotation, moved = camera[:3], point - camera[3:6]
        angle = np.sqrt(np.sum(rotation * rotation))
        axis = rotation / angle
        cosine, sine = np.cos(angle), np.sin(angle)
        across, along = np.cross(axis, moved), np.dot(axis, moved)
        seen = moved * cosine + across * sine + axis * (along * (1.0 - cosine))
        flat = seen[:2] / seen[2]
        square = np.sum(flat * flat)
        scale = camera[6] * (1.0 + camera[9] * square + camera[10] * square * square)
        away = scale * flat + camera[7:9] - features[i]
        error = weights[i] * away
        kept.append((moved, angle, axis, cosine, sine, across, along, seen, flat, square, scale, away, error))
    cameras_bar, points_bar, weights_bar = np.zeros_like(cameras), np.zeros_like(points), np.zeros_like(weights)
    for i in range(len(places) - 1, -1, -1):
        moved, angle, axis, cosine, sine, across, along, seen, flat, square, scale, away, error = kept[i]
        camera, camera_bar = cameras[places[i, 0]], cameras_bar[places[i, 0]]
        weights_bar[i] -= 2.0 * weights[i] * (1.0 - weights[i] ** 2)
        error_bar = error
        weights_bar[i] += np.sum(error_bar * away)
        away_bar = weights[i] * error_bar
        scale_bar, flat_bar = np.sum(away_bar * flat), scale * away_bar
        camera_bar[7:9] += away_bar
        bend_bar = camera[6] * scale_bar
        camera_bar[6] += scale_bar * (1.0 + camera[9] * square + camera[10] * square * square)
        camera_bar[9] += bend_bar * square
        camera_bar[10] += bend_bar * square * square
        square_bar = bend_bar * (camera[9] + 2.0 * camera[10] * square)
        flat_bar = flat_bar + 2.0 * square_bar * flat
        seen_bar = np.zeros(3)
        seen_bar[:2] += flat_bar / seen[2]
        seen_bar[2] -= np.sum(flat_bar * flat) / seen[2]
        moved_bar, cosine_bar = seen_bar * cosine, np.sum(seen_bar * moved)
        across_bar, sine_bar = seen_bar * sine, np.sum(seen_bar * across)
        inner_bar, axis_bar = np.sum(seen_bar * axis), seen_bar * (along * (1.0 - cosine))
        along_bar = inner_bar * (1.0 - cosine)
        cosine_bar = cosine_bar - inner_bar * along
        axis_bar = axis_bar + along_bar * moved
        moved_bar = moved_bar + along_bar * axis
        axis_bar = axis_bar + np.cross(moved, across_bar)
        moved_bar = moved_bar + np.cross(across_bar, axis)
        angle_bar = sine_bar * cosine - cosine_bar * sine
        angle_bar = angle_bar - np.sum(axis_bar * axis) / angle
        rotation_bar = axis_bar / angle
        rotation_bar = rotation_bar + angle_bar * camera[:3] / angle
        camera_bar[:3] += rotation_bar
        points_bar[places[i, 1]] += moved_bar
        camera_bar[3:6] -= moved_bar
    return cameras_bar, points_bar, weights_bar


CASE = Case("bundle_adjustment", bundle_loss, (0, 1, 2), arguments, small=(2, 3, 4), large=(5, 60, 60), jax=in_jax,
            hand_numpy=by_hand, by_statement=by_statement, rewritten=True, hand_numba=by_hand_in_loops)  # fmt: skip
