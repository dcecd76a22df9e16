"""What is kept of a loop over buffers: one copy for several stores, and values that are the same in every trip."""

import numpy as np

from tests.inplace.pairs import M45, V3, V5, V6, W5, mutating, pure

P5 = np.array([0.35, 0.62, 1.41, 1.83, 0.94])


@mutating(V5, W5, 3)
@mutating(V5, W5, 0)
def whole_store_before_partial_ones(u, k, steps):
    u = u.copy()
    flux = np.zeros(5)
    for _ in range(steps):
        flux[:-1] = 0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1])
        u += 0.1 * flux
        u[1:] -= 0.2 * flux[:-1]
        u[0] = 0.3
    return u


@pure
def whole_store_before_partial_ones_pure(u, k, steps):
    for _ in range(steps):
        flux = np.concatenate([0.5 * (k[1:] + k[:-1]) * (u[1:] - u[:-1]), np.zeros(1)])
        u = u + 0.1 * flux - 0.2 * np.concatenate([np.zeros(1), flux[:-1]])
        u = np.concatenate([[0.3], u[1:]])
    return u


@mutating(V5, 3)
def read_between_whole_and_partial_stores(u, steps):
    u, total = u.copy(), 0.0
    for k in range(steps):
        u *= 1.1
        total += np.sum(np.sin(u))
        u[k] = total
        total += u[k + 1] ** 2
        u[1:] *= u[0]
    return total * u


@pure
def read_between_whole_and_partial_stores_pure(u, steps):
    total, places = 0.0, np.arange(5)
    for k in range(steps):
        u = u * 1.1
        total = total + np.sum(np.sin(u))
        u = np.where(places == k, total, u)
        total = total + u[k + 1] ** 2
        u = np.where(places > 0, u * u[0], u)
    return total * u


@mutating(V6, 3)
def view_stored_whole_before_its_parts(u, steps):
    u = u.copy()
    inner = u[1:-1]
    for _ in range(steps):
        bent = inner * inner
        inner -= 0.1 * bent
        inner[0] = 0.5
        inner[-1:] += u[0] * u[-1]
        u[0] = inner[1] ** 2
    return u


@pure
def view_stored_whole_before_its_parts_pure(u, steps):
    for _ in range(steps):
        inner = u[1:-1] - 0.1 * u[1:-1] ** 2
        inner = np.concatenate([[0.5], inner[1:-1], inner[-1:] + u[0] * u[-1]])
        u = np.concatenate([inner[1:2] ** 2, inner, u[-1:]])
    return u


@mutating(V6, 3)
def whole_store_on_one_path_only(u, steps):
    u = u.copy()
    for k in range(steps):
        bent = np.sin(u) * u
        if k != 1:
            u += bent
        u[k] = 0.2
        u[2:] *= u[:4].copy()
    return u


@pure
def whole_store_on_one_path_only_pure(u, steps):
    for k in range(steps):
        if k != 1:
            u = u + np.sin(u) * u
        else:
            u = u * 1.0
        u = np.where(np.arange(6) == k, 0.2, u)
        u = np.concatenate([u[:2], u[2:] * u[:4]])
    return u


@mutating(V5, P5, 3)
@mutating(V5, P5, 0)
def the_same_in_every_trip(u, k, steps):
    u = u.copy()
    for i in range(steps):
        for j in range(1, 4):
            weight = np.sqrt(k) * 0.5 + np.log(k)
            part = np.exp(k[j] * weight) * 1e-2
            u[j] += np.sum(part * u)
        u[i] *= 1.0 / (1.0 + weight[i])
    return u


@pure
def the_same_in_every_trip_pure(u, k, steps):
    places = np.arange(5)
    for i in range(steps):
        weight = np.sqrt(k) * 0.5 + np.log(k)
        for j in range(1, 4):
            u = u + np.where(places == j, np.sum(np.exp(k[j] * weight) * 1e-2 * u), 0.0)
        u = np.where(places == i, u / (1.0 + weight[i]), u)
    return u


@mutating(V5, np.array([-1.0, 2.0, 0.5, -3.0, 1.0]), 4)
@mutating(V5, np.array([1.0, 2.0, 0.5, 3.0, 1.0]), 4)
def the_same_in_every_trip_of_a_branch(u, k, steps):
    u = u.copy()
    for i in range(steps):
        if np.all(k > 0.0):
            root = np.log(k)
            u[i] += np.sum(root * u)
        else:
            shifted = (k + 4.0) * k
            u[i] += np.sum(shifted * u * u)
    return u


@pure
def the_same_in_every_trip_of_a_branch_pure(u, k, steps):
    for i in range(steps):
        change = np.sum(np.log(k) * u) if np.all(k > 0.0) else np.sum((k + 4.0) * k * u * u)
        u = u + np.where(np.arange(5) == i, change, 0.0)
    return u


@mutating(V5, W5, 3)
def not_the_same_where_it_is_stored_into(u, k, steps):
    u, k = u.copy(), k.copy()
    for i in range(steps):
        factor = k * 2.0
        fresh = np.zeros(5)
        fresh[i:] = factor[i:] * u[i:]
        k[i] = fresh[-1]
        u = u * fresh + k
    return u


@pure
def not_the_same_where_it_is_stored_into_pure(u, k, steps):
    places = np.arange(5)
    for i in range(steps):
        fresh = np.where(places >= i, k * 2.0 * u, 0.0)
        k = np.where(places == i, fresh[-1], k)
        u = u * fresh + k
    return u


@mutating(M45, V3, 2)
def rows_of_a_matrix_with_one_copy(m, w, steps):
    m = m.copy()
    for _ in range(steps):
        slope = m[1:] * m[:-1]
        m -= 0.1 * np.sin(m)
        m[:-1] += slope
        m[-1, 1:4] = w
        m[:, 0] = m[:, 1]
    return m


@pure
def rows_of_a_matrix_with_one_copy_pure(m, w, steps):
    for _ in range(steps):
        slope = m[1:] * m[:-1]
        m = m - 0.1 * np.sin(m)
        m = np.concatenate([m[:-1] + slope, m[-1:]])
        last = np.concatenate([m[-1, :1], w, m[-1, 4:]])
        m = np.concatenate([m[:-1], last[None]])
        m = np.concatenate([m[:, 1:2], m[:, 1:]], axis=1)
    return m
