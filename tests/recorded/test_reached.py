"""What a value leads to is looked at once, however many ways lead there."""

import collections

import numpy as np

from s2s.recorded.recorder import Recorder, reached


class Part:
    pass


def a_world(width, depth):
    """Objects of ``depth`` levels, each of which refers to all of the next."""
    level = [Part() for _ in range(width)]
    first = level
    for _ in range(depth):
        following = [Part() for _ in range(width)]
        for one in level:
            one.following = following
        level = following
    return first, level


def test_the_parts_of_each_value_are_asked_for_once():
    first, last = a_world(30, 3)
    asked = collections.Counter()

    def parts_of(value):
        asked[id(value)] += 1
        return value if isinstance(value, list) else vars(value).values()

    found = list(reached(first, parts_of, 7))
    assert {id(one) for one in last} <= set(map(id, found))
    assert set(asked.values()) == {1}


def test_nothing_further_than_the_depth_is_reached():
    chain = [1.0]
    for _ in range(5):
        chain = [chain]
    assert 1.0 not in list(reached([chain], lambda v: v if isinstance(v, list) else (), 5))
    assert 1.0 in list(reached([chain], lambda v: v if isinstance(v, list) else (), 6))


def test_a_world_that_refers_to_one_number_in_many_ways():
    recorder = Recorder()
    first, last = a_world(12, 2)
    assert not recorder.holds(*first)
    assert not recorder.hides(first)
    number = np.float64(0.3)
    recorder.new(number)
    last[7].value = number
    first[0].following[3].beside = last[7]
    assert recorder.hides([first[0]])
    assert recorder.holds(first[0].following[3])
    assert [*recorder.parts_of(last[7])] == [number]
