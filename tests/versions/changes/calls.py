"""Functions, their code and defaults, partial and generic functions: what may be changed at a second call."""

from tests.versions.changes import Case

CASES = {
    "global_helper_code": Case(
        "code",
        """
        def h(x):
            return x * x

        def g(x):
            return 7.0 * x

        def f(x):
            return h(x)
        """,
        "m.h.__code__ = m.g.__code__",
    ),
    "helper_defaults": Case(
        "default",
        """
        def h(x, k=3.0):
            return x * x * k

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__ = (5.0,)",
    ),
    "helper_kwdefaults": Case(
        "default",
        """
        def h(x, *, k=3.0):
            return x * x * k

        def f(x):
            return h(x)
        """,
        "m.h.__kwdefaults__['k'] = 5.0",
    ),
    "module_attr_code": Case(
        "code",
        """
        import helpmod

        def f(x):
            return helpmod.h(x)
        """,
        "m.helpmod.h.__code__ = (lambda x: 7.0 * x).__code__",
    ),
    "class_method_code": Case(
        "code",
        """
        class O:

            def h(self, x):
                return x * x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.h.__code__ = (lambda self, x: 7.0 * x).__code__",
    ),
    "class_init_code": Case(
        "code",
        """
        class O:

            def __init__(self, x):
                self.a = x * x

        def f(x):
            return O(x).a
        """,
        """
        def i(self, x):
            self.a = 7.0 * x
        m.O.__init__.__code__ = i.__code__
        """,
    ),
    "singledispatch": Case(
        "implementation",
        """
        import functools

        @functools.singledispatch
        def h(x):
            return x * x

        def f(x):
            return h(x)
        """,
        "m.h.register(float, lambda x: 7.0 * x)",
    ),
    "partial_state": Case(
        "keywords",
        """
        import functools

        def h(k, x):
            return k * x
        p = functools.partial(h, 2.0)

        def f(x):
            return p(x)
        """,
        "m.p.__setstate__((m.h, (7.0,), {}, {}))",
    ),
    "partial_keywords_in_place": Case(
        "argument",
        """
        import functools

        def h(x, k):
            return x * k
        p = functools.partial(h, k=2.0)

        def f(x):
            return p(x)
        """,
        "m.p.keywords['k'] = 7.0",
    ),
    "lru_cache": Case(
        "",
        """
        import functools
        K = ['a']

        @functools.lru_cache
        def h():
            return K[0]

        def f(x):
            return x * x if h() == 'a' else x
        """,
        """
        m.K[0] = 'b'
        m.h.cache_clear()
        """,
    ),
    "bound_method_global": Case(
        "code",
        """
        class O:
            k = 2.0

            def h(self, x):
                return x * self.k
        o = O()
        bm = o.h

        def f(x):
            return bm(x)
        """,
        "m.O.h.__code__ = (lambda self, x: 7.0 * x).__code__",
    ),
    "dataclass_default": Case(
        "default",
        """
        import dataclasses

        @dataclasses.dataclass
        class O:
            k: float = 2.0

        def f(x):
            return x * O().k
        """,
        "m.O.__init__.__defaults__ = (7.0,)",
    ),
    "namedtuple_default": Case(
        "default",
        """
        import typing

        class O(typing.NamedTuple):
            k: float = 2.0

        def f(x):
            return x * O().k
        """,
        "m.O.__new__.__defaults__ = (7.0,)",
    ),
    "signature_defaults": Case(
        "signature",
        """
        import inspect

        def h(x, k=2.0):
            return x

        def f(x):
            return x * inspect.signature(h).parameters['k'].default
        """,
        "m.h.__defaults__ = (7.0,)",
    ),
    "differentiable": Case(
        "code",
        """
        import s2s

        @s2s.differentiable
        def h(x):
            return x * x

        def f(x):
            return h(x)
        """,
        "m.h.func.__code__ = (lambda x: 7.0 * x).__code__",
    ),
    "default_list_iterate": Case(
        "default",
        """
        def h(x, k=[3.0, 1.0]):
            s = 0.0
            for v in k:
                s = s + x * v
            return s

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0].append(5.0)",
    ),
    "default_list_len": Case(
        "default",
        """
        def h(x, k=[3.0, 1.0]):
            return x * len(k)

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0].append(5.0)",
    ),
    "default_dict_items": Case(
        "default",
        """
        def h(x, k={'a': 3.0}):
            s = 0.0
            for n, v in k.items():
                s = s + x * v
            return s

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0]['b'] = 5.0",
    ),
    "default_dict_in": Case(
        "default",
        """
        def h(x, k={'a': 3.0}):
            return x * x if 'b' in k else x

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0]['b'] = 5.0",
    ),
    "default_dict_star": Case(
        "default",
        """
        def g(x, a, b=2.0):
            return x * a * b

        def h(x, k={'a': 3.0}):
            return g(x, **k)

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0]['b'] = 5.0",
    ),
    "partial_list": Case(
        "argument",
        """
        import functools

        def h(k, x):
            s = 0.0
            for v in k:
                s = s + x * v
            return s
        K = [2.0]
        p = functools.partial(h, K)

        def f(x):
            return p(x)
        """,
        "m.K.append(7.0)",
    ),
    "partial_dict_kw": Case(
        "argument",
        """
        import functools

        def h(x, k=None):
            return x * x if 'a' in k else x
        K = {'a': 1}
        p = functools.partial(h, k=K)

        def f(x):
            return p(x)
        """,
        "m.K.clear()",
    ),
    "namedtuple_method_code": Case(
        "code",
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
        "m.P.h.__code__ = (lambda self, x: 7.0 * x).__code__",
    ),
    "property_setter": Case(
        "code",
        """
        class O:

            def __init__(self):
                self._k = 1.0

            @property
            def k(self):
                return self._k

            @k.setter
            def k(self, v):
                self._k = v * v

        def f(x):
            o = O()
            o.k = x
            return o.k
        """,
        "m.O.k.fset.__code__ = (lambda self, v: setattr(self, '_k', 7.0 * v)).__code__",
    ),
    "property_getter_code": Case(
        "code",
        """
        class O:

            def __init__(self):
                self._k = 1.0

            @property
            def k(self):
                return self._k
        o = O()

        def f(x):
            return x * o.k
        """,
        "m.O.k.fget.__code__ = (lambda self: 7.0).__code__",
    ),
    "staticmethod_code": Case(
        "code",
        """
        class O:

            @staticmethod
            def h(x):
                return x * x

        def f(x):
            return O.h(x)
        """,
        "m.O.h.__code__ = (lambda x: 7.0 * x).__code__",
    ),
    "singledispatchmethod": Case(
        "implementation",
        """
        import functools

        class O:

            @functools.singledispatchmethod
            def h(self, x):
                return x * x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.__dict__['h'].register(float, lambda self, x: 7.0 * x)",
    ),
    "keyword_added": Case(
        "keywords",
        """
        import functools

        def h(x, j=1.0, k=2.0):
            return x * j * k
        p = functools.partial(h, j=3.0)

        def f(x):
            return p(x)
        """,
        "m.p.keywords['k'] = 7.0",
    ),
    "keyword_first": Case(
        "keywords",
        """
        import functools

        def h(x, k=2.0):
            return x * k
        p = functools.partial(h)

        def f(x):
            return p(x)
        """,
        "m.p.keywords['k'] = 7.0",
    ),
    "partialmethod_keyword": Case(
        "argument",
        """
        import functools

        class O:

            def h(self, x, k):
                return x * k
            q = functools.partialmethod(h, k=2.0)
        o = O()

        def f(x):
            return o.q(x)
        """,
        "m.O.__dict__['q'].keywords['k'] = 7.0",
    ),
    "partialmethod_list": Case(
        "argument",
        """
        import functools

        class O:

            def h(self, k, x):
                return x * len(k)
            K = [2.0]
            q = functools.partialmethod(h, K)
        o = O()

        def f(x):
            return o.q(x)
        """,
        "m.O.K.append(7.0)",
    ),
    "default_added": Case(
        "signature",
        """
        def h(x, k):
            return x * k

        def f(x):
            try:
                return h(x)
            except TypeError:
                return x * x
        """,
        "m.h.__defaults__ = (7.0,)",
    ),
    "keyword_default_first": Case(
        "signature",
        """
        def h(x, *, k):
            return x * k

        def f(x):
            try:
                return h(x)
            except TypeError:
                return x * x
        """,
        "m.h.__kwdefaults__ = {'k': 7.0}",
    ),
    "keyword_default_added": Case(
        "signature",
        """
        def h(x, *, j=1.0, k):
            return x * j * k

        def f(x):
            try:
                return h(x)
            except TypeError:
                return x * x
        """,
        "m.h.__kwdefaults__['k'] = 7.0",
    ),
    "dataclass_default_added": Case(
        "signature",
        """
        import dataclasses

        @dataclasses.dataclass
        class O:
            k: float

        def f(x):
            try:
                return x * O().k
            except TypeError:
                return x * x
        """,
        "m.O.__init__.__defaults__ = (7.0,)",
    ),
    "registered": Case(
        "registered",
        """
        import s2s

        @s2s.register_gradient('made_up_rule')
        def rule(out, out_bar, x):
            return 3.0 * out_bar

        def other(out, out_bar, x):
            return 5.0 * out_bar

        def h(x):
            return x * x

        def f(x):
            with s2s.gradient_override({h: 'made_up_rule'}):
                return h(x)
        """,
        """
        import s2s
        s2s.directives.policies.REGISTERED.made_up_rule = m.other
        """,
        by_rule=True,
    ),
}
