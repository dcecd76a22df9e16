"""Classes, their members and bases: what a program may find changed at its second call."""

from tests.versions.changes import Case

CASES = {
    "local_o_class_attr": Case(
        "member_value",
        """
        class O:
            k = 'a'

            def h(self, x):
                return x * x if self.k == 'a' else x

        def f(x):
            return O().h(x)
        """,
        "m.O.k = 'b'",
    ),
    "class_method_replaced": Case(
        "member",
        """
        class O:

            def h(self, x):
                return x * x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.h = lambda self, x: 7.0 * x",
    ),
    "property": Case(
        "member",
        """
        class O:
            w = 2.0

            @property
            def k(self):
                return self.w
        o = O()

        def f(x):
            return x * o.k
        """,
        "m.O.k = property(lambda self: 7.0)",
    ),
    "subclass_override_later": Case(
        "member",
        """
        class B:

            def h(self, x):
                return x * x

        class O(B):
            pass
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.h = lambda self, x: 7.0 * x",
    ),
    "class_gains_add": Case(
        "",
        """
        class O:

            def __init__(self, v):
                self.v = v

            def __radd__(self, o):
                return o * self.v

        class P(O):
            pass

        def f(x):
            return x + P(2.0)
        """,
        "m.P.__radd__ = lambda self, o: o * 7.0",
    ),
    "class_bases": Case(
        "",
        """
        class A:

            def h(self, x):
                return x * x

        class B:

            def h(self, x):
                return 7.0 * x

        class O(A):
            pass
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.__bases__ = (m.B,)",
    ),
    "class_bool": Case(
        "member",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * x if o else x
        """,
        "m.O.__bool__ = lambda self: False",
        late=True,
    ),
    "isinstance_abc": Case(
        "subclass",
        """
        import abc

        class O(abc.ABC):
            pass

        def f(x):
            return x * x if isinstance(x, O) else x
        """,
        "m.O.register(float)",
    ),
    "isinstance_abc_obj": Case(
        "subclass",
        """
        import abc

        class O(abc.ABC):
            pass

        class Q:
            pass
        o = Q()

        def f(x):
            return x * x if isinstance(o, O) else x
        """,
        "m.O.register(m.Q)",
    ),
    "issubclass": Case(
        "subclass",
        """
        import abc

        class O(abc.ABC):
            pass

        class Q:
            pass

        def f(x):
            return x * x if issubclass(Q, O) else x
        """,
        "m.O.register(m.Q)",
    ),
    "getattr_static": Case(
        "static",
        """
        import inspect

        class O:
            k = 'a'

        def f(x):
            return x * x if inspect.getattr_static(O, 'k') == 'a' else x
        """,
        "m.O.k = 'b'",
    ),
    "super": Case(
        "member",
        """
        class A:

            def h(self, x):
                return x * x

        class O(A):

            def h(self, x):
                return super().h(x) * 2.0
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.A.h = lambda self, x: 7.0 * x",
    ),
    "super_gains": Case(
        "member",
        """
        class A0:

            def h(self, x):
                return x * x

        class A(A0):
            pass

        class O(A):

            def h(self, x):
                return super().h(x) * 2.0
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.A.h = lambda self, x: 7.0 * x",
    ),
    "descriptor": Case(
        "member",
        """
        class D:

            def __get__(self, o, t):
                return 2.0

        class O:
            d = D()
        o = O()

        def f(x):
            return x * o.d
        """,
        "m.D.__get__ = lambda self, o, t: 7.0",
    ),
    "o_eq": Case(
        "member",
        """
        class O:
            pass
        o = O()
        p = O()

        def f(x):
            return x * x if o == p else x
        """,
        "m.O.__eq__ = lambda a, b: True",
        late=True,
    ),
    "namedtuple_field": Case(
        "member",
        """
        import collections
        P = collections.namedtuple('P', 'a b')

        def f(x):
            return P(x, 3.0 * x).a
        """,
        "m.P.a = property(lambda self: self[1])",
    ),
    "slot_of_another_name": Case(
        "",
        """
        class O:
            __slots__ = ('a', 'b')

            def __init__(self, a):
                self.a = a
                self.b = 7.0

        o = O(2.0)

        def f(x):
            return o.a * x
        """,
        "m.O.a = m.O.b",
    ),
    "namedtuple_method": Case(
        "member",
        """
        import typing

        class P(typing.NamedTuple):
            a: float

            def h(self, x):
                return x * self.a
        p = P(2.0)

        def f(x):
            return p.h(x)
        """,
        "m.P.h = lambda self, x: 7.0 * x",
    ),
    "namedtuple_local_method": Case(
        "member",
        """
        import typing

        class P(typing.NamedTuple):
            a: float

            def h(self, x):
                return x * self.a

        def f(x):
            return P(x).h(x)
        """,
        "m.P.h = lambda self, x: 7.0 * x",
    ),
    "namedtuple_hasattr": Case(
        "has",
        """
        import typing

        class P(typing.NamedTuple):
            a: float

        def f(x):
            p = P(x)
            return p.a * p.a if hasattr(p, 'zz') else p.a
        """,
        "m.P.zz = 1",
        late=True,
    ),
    "operator_overload": Case(
        "member",
        """
        class V:

            def __init__(self, a):
                self.a = a

            def __mul__(self, o):
                return V(self.a * o.a)

        def f(x):
            return (V(x) * V(x)).a
        """,
        """
        m.V.__mul__ = lambda s, o: m_V(s.a * 7.0)
        m_V = m.V
        """,
    ),
    "iter_proto": Case(
        "member",
        """
        class V:

            def __init__(self):
                self.a = [1.0, 2.0]

            def __len__(self):
                return 2

            def __getitem__(self, k):
                return self.a[k]
        v = V()

        def f(x):
            return x * v[0] * len(v)
        """,
        "m.V.__len__ = lambda s: 5",
    ),
    "partialmethod": Case(
        "member",
        """
        import functools

        class O:

            def h(self, k, x):
                return x * k
            q = functools.partialmethod(h, 2.0)
        o = O()

        def f(x):
            return o.q(x)
        """,
        """
        import functools
        m.O.q = functools.partialmethod(m.O.h, 7.0)
        """,
    ),
    "post_init": Case(
        "member",
        """
        import dataclasses

        @dataclasses.dataclass
        class O:
            k: float

            def __post_init__(self):
                self.k = self.k * 2.0

        def f(x):
            return O(x).k
        """,
        """
        def post(self):
            self.k = self.k * 7.0
        m.O.__post_init__ = post
        """,
    ),
    "protocol": Case(
        "presence",
        """
        import typing

        @typing.runtime_checkable
        class P(typing.Protocol):
            def h(self): ...

        class O:
            pass
        o = O()

        def f(x):
            return x * x if isinstance(o, P) else x
        """,
        "m.o.h = len",
    ),
    "callable_o": Case(
        "member",
        """
        class O:

            def __call__(self, x):
                return x * x
        o = O()

        def f(x):
            return o(x)
        """,
        "m.O.__call__ = lambda self, x: 7.0 * x",
    ),
}
