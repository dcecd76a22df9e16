"""What is the gradient with respect to an input that the result does not depend on?

Zero, which is what the mathematics says, in the structure and shapes of the input. Who would rather notice asks
for None with `unconnected="none"`. An input that only chooses, in a test or as an index, is not connected either.
An input of which a part is used is connected, and the other parts of it get zeros.
"""

import numpy as np

import s2s


def area(width, height, colour):
    return width * height


def chosen(values, limit):
    return values[0] if limit > 0.0 else values[1]


COLOUR = {"red": np.array([0.2, 0.4]), "alpha": 1.0}


def sources():
    return [s2s.source(area, 2.0, 3.0, COLOUR, argnums=("width", "colour"))]


def main():
    by_width, by_colour = s2s.grad(area, argnums=("width", "colour"))(2.0, 3.0, COLOUR)
    print("zeros:", by_width, by_colour)
    assert by_width == 3.0 and by_colour["alpha"] == 0.0 and by_colour["red"].tolist() == [0.0, 0.0]

    found = s2s.grad(area, argnums=("width", "colour"), unconnected="none")(2.0, 3.0, COLOUR)
    print("none: ", found[0], found[1])
    assert found[0] == 3.0 and found[1]["alpha"] is None and found[1]["red"] is None

    by_values, by_limit = s2s.grad(chosen, argnums=(0, 1), unconnected="none")([1.0, 2.0], 0.5)
    print("by what is chosen, and by what chooses:", by_values, by_limit)
    assert by_values == [1.0, 0.0] and by_limit is None


if __name__ == "__main__":
    main()
