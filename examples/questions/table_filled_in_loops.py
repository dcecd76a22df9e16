"""A function fills a table element by element in nested loops. Where is its gradient?

Where arrays record their operations, storing into an element records nothing, and the gradient is None or an
error. s2s differentiates the loops as they are written: the reverse of `result[i, j] = v` takes the cotangent of
that element, gives it to `v`, and leaves zero. The gradient equals that of the same table written without loops.
"""

import numpy as np

import s2s

POINTS = np.array([[3.0, 4.0, 5.0], [4.0, 5.0, 6.0], [1.0, 3.0, 3.0]])
BOXES = np.array([[4.0, 5.0], [5.0, 6.0], [5.0, 7.0]])


def fill(p, box):
    result = np.zeros((p.shape[0], box.shape[1]))
    for i in range(p.shape[0]):
        for j in range(box.shape[1]):
            result[i, j] = (np.prod(box[:, j]) - np.prod(p[i, :])) / np.prod(box[:, j])
    return result


def total(p, box):
    return np.sum(fill(p, box))


def total_without_loops(p, box):
    volumes = np.prod(box, axis=0)
    return np.sum((volumes - np.prod(p, axis=1, keepdims=True)) / volumes)


def differences(f, x, step=1e-5):
    """The gradient of ``f`` by central differences."""
    found = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        change = np.zeros(x.shape)
        change[place] = step
        found[place] = (f(x + change) - f(x - change)) / (2.0 * step)
    return found


def sources():
    return [s2s.source(total, POINTS, BOXES)]


def main():
    table = fill(POINTS, BOXES)
    print("the table", table, sep="\n")
    np.testing.assert_allclose(table, [[0.4, 5 / 7], [-0.2, 3 / 7], [0.91, 201 / 210]])

    by_points, by_boxes = s2s.grad(total, argnums=("p", "box"))(POINTS, BOXES)
    print("the gradient of its sum by p", by_points, "and by box", by_boxes, sep="\n")
    np.testing.assert_allclose(by_points[0], [-31 / 105, -31 / 140, -31 / 175])  # -(1/100 + 1/210) * 60 / p
    for found, wanted in zip((by_points, by_boxes), s2s.grad(total_without_loops, (0, 1))(POINTS, BOXES)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(by_points, differences(lambda p: total(p, BOXES), POINTS), rtol=1e-7)
    np.testing.assert_allclose(by_boxes, differences(lambda box: total(POINTS, box), BOXES), rtol=1e-7)


if __name__ == "__main__":
    main()
