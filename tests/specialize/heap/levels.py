"""Variables of another module, for ``test_variables``."""

LEVEL, FACTOR = 1, 1.5


def raise_level():
    global LEVEL
    LEVEL += 1


def level():
    return LEVEL


def scaled(y):
    return y * FACTOR


def twice(v):
    return 2.0 * v


step = twice
exec("def unread(): return LEVEL + FACTOR")
exec("def unread_mode(): return 'square' if LEVEL == 1 else 'plain'")
exec("def reset():\n    global LEVEL, FACTOR, step\n    LEVEL, FACTOR, step = 1, 1.5, twice")
