"""Attributes of modules, functions and members of enumerations: what a program may find changed at its second call."""

from tests.versions.changes import Case

CASES = {
    "fn_attr_str": Case(
        "attribute",
        """
        def h(x):
            return x * x if h.mode == 'a' else x
        h.mode = 'a'

        def f(x):
            return h(x)
        """,
        "m.h.mode = 'b'",
    ),
    "fn_attr_getattr_default": Case(
        "attribute",
        """
        def h(x):
            return x * getattr(h, 'k', 2.0)

        def f(x):
            return h(x)
        """,
        "m.h.k = 5.0",
    ),
    "fn_name": Case(
        "attribute",
        """
        def h(x):
            return x * x if h.__name__ == 'h' else x

        def f(x):
            return h(x)
        """,
        "m.h.__name__ = 'q'",
    ),
    "module_attr_fn": Case(
        "attribute",
        """
        import helpmod

        def f(x):
            return helpmod.h(x)
        """,
        "m.helpmod.h = lambda x: 7.0 * x",
    ),
    "module_getattr_default": Case(
        "attribute",
        """
        import helpmod

        def f(x):
            return x * getattr(helpmod, 'yyy', 2.0)
        """,
        "m.helpmod.yyy = 5.0",
    ),
    "module_attr_absent_try": Case(
        "attribute",
        """
        import helpmod

        def f(x):
            try:
                h = helpmod.www
            except AttributeError:
                return x * x
            return h(x)
        """,
        "m.helpmod.www = lambda x: 7.0 * x",
    ),
    "module_str": Case(
        "attribute",
        """
        import helpmod

        def f(x):
            return x * x if helpmod.MODE == 'a' else x
        """,
        "m.helpmod.MODE = 'b'",
    ),
    "enum_value": Case(
        "attribute",
        """
        import enum

        class C(enum.Enum):
            A = 2.0

        def f(x):
            return x * C.A.value
        """,
        "m.C.A._value_ = 5.0",
    ),
    "enum_attr": Case(
        "attribute",
        """
        import enum

        class C(enum.Enum):
            A = 2.0
        C.A.scale = 3.0

        def f(x):
            return x * C.A.scale
        """,
        "m.C.A.scale = 7.0",
    ),
    "enum_own_init_attr": Case(
        "attribute",
        """
        import enum

        class C(enum.Enum):
            A = (2.0, 'm')

            def __init__(self, k, mode):
                self.k = k
                self.mode = mode

        def f(x):
            return x * C.A.k if C.A.mode == 'm' else x
        """,
        "m.C.A.mode = 'z'",
    ),
    "enum_method": Case(
        "attribute",
        """
        import enum

        class C(enum.Enum):
            A = 2.0

            def h(self, x):
                return x * self.value

        def f(x):
            return C.A.h(x)
        """,
        "m.C.h = lambda self, x: x * 9.0",
    ),
    "enum_str_value": Case(
        "attribute",
        """
        import enum

        class C(enum.Enum):
            A = 'a'

        def f(x):
            return x * x if C.A.value == 'a' else x
        """,
        "m.C.A._value_ = 'b'",
    ),
    "staticmethod": Case(
        "attribute",
        """
        class O:

            @staticmethod
            def h(x):
                return x * x

        def f(x):
            return O.h(x)
        """,
        "m.O.h = staticmethod(lambda x: 7.0 * x)",
    ),
    "classmethod": Case(
        "attribute",
        """
        class O:

            @classmethod
            def h(cls, x):
                return x * x

        def f(x):
            return O.h(x)
        """,
        "m.O.h = classmethod(lambda cls, x: 7.0 * x)",
    ),
    "class_attr_str": Case(
        "attribute",
        """
        class O:
            mode = 'a'

        def f(x):
            return x * x if O.mode == 'a' else x
        """,
        "m.O.mode = 'b'",
    ),
    "partial_attr": Case(
        "attribute",
        """
        import functools

        def h(x, k):
            return x * k
        p = functools.partial(h, k=2.0)
        p.q = 'a'

        def f(x):
            return p(x) if p.q == 'a' else x * x
        """,
        "m.p.q = 'b'",
    ),
    "vectorize_pyfunc": Case(
        "attribute",
        """
        import numpy as np

        def a(x):
            return x * x

        def b(x):
            return 7.0 * x
        v = np.vectorize(a)

        def f(x):
            return np.sum(v(np.atleast_1d(x)))
        """,
        "m.v.pyfunc = m.b",
    ),
    "np_patched": Case(
        "attribute",
        """
        import numpy as np

        def f(x):
            return np.sin(x)
        """,
        """
        import numpy as np
        m.old = np.sin
        np.sin = lambda v: 7.0 * v
        """,
        after="""
        import numpy as np
        np.sin = m.old
        """,
        late=True,
    ),
    "math_patched": Case(
        "attribute",
        """
        import math

        def f(x):
            return math.sin(x)
        """,
        """
        import math
        m.old = math.sin
        math.sin = lambda v: 7.0 * v
        """,
        after="""
        import math
        math.sin = m.old
        """,
        late=True,
    ),
    "doc": Case(
        "attribute",
        """
        def h(x):
            'a'
            return x

        def f(x):
            return x * x if h.__doc__ == 'a' else x
        """,
        "m.h.__doc__ = 'b'",
    ),
    "type_self_attr": Case(
        "attribute",
        """
        class O:
            k = 'a'

            def h(self, x):
                return x * x if type(self).k == 'a' else x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.k = 'b'",
    ),
    "class_name": Case(
        "attribute",
        """
        class O:

            def h(self, x):
                return x * x if self.__class__.__name__ == 'O' else x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.__name__ = 'b'",
    ),
    "classmethod_uses_cls": Case(
        "attribute",
        """
        class O:
            k = 'a'

            @classmethod
            def h(cls, x):
                return x * x if cls.k == 'a' else x

        def f(x):
            return O.h(x)
        """,
        "m.O.k = 'b'",
    ),
    "metaclass_attr": Case(
        "attribute",
        """
        class M(type):
            k = 'a'

        class O(metaclass=M):
            pass

        def f(x):
            return x * x if O.k == 'a' else x
        """,
        "m.M.k = 'b'",
    ),
}
