"""Objects that were there before, and what they hold: what a program may find changed at its second call."""

from tests.versions.changes import Case

CASES = {
    "instance_method_shadow": Case(
        "shadow",
        """
        class O:

            def h(self, x):
                return x * x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.o.h = lambda x: 7.0 * x",
    ),
    "instance_method_unshadow": Case(
        "own",
        """
        class O:

            def h(self, x):
                return x * x
        o = O()

        def h7(x):
            return 7.0 * x
        o.h = h7

        def f(x):
            return o.h(x)
        """,
        "del m.o.h",
    ),
    "instance_shadows_class_str": Case(
        "own",
        """
        class O:
            k = 'a'
        o = O()

        def f(x):
            return x * x if o.k == 'a' else x
        """,
        "m.o.k = 'b'",
    ),
    "instance_attr_str": Case(
        "own",
        """
        class O:

            def __init__(self):
                self.k = 'a'
        o = O()

        def f(x):
            return x * x if o.k == 'a' else x
        """,
        "m.o.k = 'b'",
    ),
    "instance_attr_deleted": Case(
        "own",
        """
        class O:
            k = 'b'

            def __init__(self):
                self.k = 'a'
        o = O()

        def f(x):
            return x * x if o.k == 'a' else x
        """,
        "del m.o.k",
    ),
    "vars": Case(
        "names",
        """
        class O:

            def __init__(self):
                self.a = 2.0
                self.b = 3.0
        o = O()

        def f(x):
            s = 0.0
            for v in vars(o).values():
                s = s + x * v
            return s
        """,
        "m.o.c = 7.0",
    ),
    "dict_of_o": Case(
        "names",
        """
        class O:

            def __init__(self):
                self.a = 2.0
                self.b = 3.0
        o = O()

        def f(x):
            s = 0.0
            for v in o.__dict__.values():
                s = s + x * v
            return s
        """,
        "m.o.c = 7.0",
    ),
    "vars_in": Case(
        "names",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * x if 'a' in vars(o) else x
        """,
        "m.o.a = 1",
    ),
    "dict_get": Case(
        "names",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * o.__dict__.get('a', 2.0)
        """,
        "m.o.a = 7.0",
    ),
    "vars_order": Case(
        "names",
        """
        class O:

            def __init__(self):
                self.a = 2.0
                self.b = 3.0
        o = O()

        def f(x):
            s = 0.0
            for k, v in enumerate(vars(o).values()):
                s = s + x * v * k
            return s
        """,
        """
        a = m.o.a
        del m.o.a
        m.o.a = a
        """,
    ),
    "dir": Case(
        "names",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * x if 'a' in dir(o) else x
        """,
        "m.o.a = 1",
    ),
    "hasattr_o": Case(
        "presence",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * x if hasattr(o, 'a') else x
        """,
        "m.o.a = 1",
    ),
    "getattr_o_default": Case(
        "absent",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * getattr(o, 'a', 2.0)
        """,
        "m.o.a = 7.0",
    ),
    "try_attr_o": Case(
        "absent",
        """
        class O:
            pass
        o = O()

        def f(x):
            try:
                return x * o.a
            except AttributeError:
                return x * x
        """,
        "m.o.a = 7.0",
    ),
    "slots": Case(
        "own",
        """
        class O:
            __slots__ = ('k',)

            def __init__(self):
                self.k = 'a'
        o = O()

        def f(x):
            return x * x if o.k == 'a' else x
        """,
        "m.o.k = 'b'",
    ),
    "nested_o_shadow": Case(
        "shadow",
        """
        class I:

            def h(self, x):
                return x * x

        class O:

            def __init__(self):
                self.i = I()
        o = O()

        def f(x):
            return o.i.h(x)
        """,
        "m.o.i.h = lambda x: 7.0 * x",
    ),
    "arg_o_shadow": Case(
        "shadow",
        """
        class O:

            def h(self, x):
                return x * x
        o = O()

        def f(x, o=o):
            return o.h(x)
        """,
        "m.o.h = lambda x: 7.0 * x",
    ),
    "self_shadow": Case(
        "shadow",
        """
        class O:

            def h(self, x):
                return x * x

            def g(self, x):
                return self.h(x) * 2.0
        o = O()
        f = o.g
        """,
        "m.o.h = lambda x: 7.0 * x",
    ),
    "class_gains_getattr": Case(
        "",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * getattr(o, 'k', 2.0)
        """,
        "m.O.__getattr__ = lambda self, n: 7.0",
    ),
    "partial_holding_object": Case(
        "own",
        """
        import functools

        class O:
            pass
        o = O()
        o.k = 'a'

        def h(o, x):
            return x * x if o.k == 'a' else x
        p = functools.partial(h, o)

        def f(x):
            return p(x)
        """,
        "m.o.k = 'b'",
    ),
    "object_in_list": Case(
        "own",
        """
        class O:
            pass
        o = O()
        o.k = 'a'
        L = [o]

        def f(x):
            return x * x if L[0].k == 'a' else x
        """,
        "m.L[0].k = 'b'",
    ),
    "object_in_list_other": Case(
        "own",
        """
        class O:
            pass
        o = O()
        o.k = 'a'
        p = O()
        p.k = 'b'
        L = [o]

        def f(x):
            return x * x if L[0].k == 'a' else x
        """,
        "m.L[0] = m.p",
    ),
    "threadlocal": Case(
        "own",
        """
        import threading
        L = threading.local()
        L.k = 'a'

        def f(x):
            return x * x if L.k == 'a' else x
        """,
        "m.L.k = 'b'",
    ),
    "callable": Case(
        "",
        """
        class O:
            pass
        o = O()

        def f(x):
            return x * x if callable(o) else x
        """,
        "m.O.__call__ = lambda self: 1",
    ),
    "descriptor_shadow": Case(
        "shadow",
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
        "m.o.d = 7.0",
    ),
    "getattr_hook": Case(
        "absent",
        """
        class O:

            def __getattr__(self, n):
                return 2.0
        o = O()

        def f(x):
            return x * o.zz
        """,
        "m.o.zz = 7.0",
    ),
    "o_is": Case(
        "alias",
        """
        class O:
            pass
        o = O()
        p = O()

        def f(x):
            return x * x if o is p else x
        """,
        "m.p = m.o",
    ),
    "default_object": Case(
        "own",
        """
        class O:
            pass
        o = O()
        o.k = 'a'

        def h(x, o=o):
            return x * x if o.k == 'a' else x

        def f(x):
            return h(x)
        """,
        "m.o.k = 'b'",
    ),
    "default_object_fn": Case(
        "own",
        """
        class O:
            pass
        o = O()
        o.k = lambda x: x * x

        def h(x, o=o):
            return o.k(x)

        def f(x):
            return h(x)
        """,
        "m.o.k = lambda x: 7.0 * x",
    ),
    "class_list_fn_grow": Case(
        "own",
        """
        def a(x):
            return x * x

        def b(x):
            return 7.0 * x

        class O:
            fs = [a]
        o = O()

        def f(x):
            for q in o.fs:
                x = q(x)
            return x
        """,
        "m.O.fs.append(m.b)",
    ),
    "inst_list_fn": Case(
        "own",
        """
        def a(x):
            return x * x

        def b(x):
            return 7.0 * x

        class O:

            def __init__(self):
                self.fs = [a]
        o = O()

        def f(x):
            for q in o.fs:
                x = q(x)
            return x
        """,
        "m.o.fs.append(m.b)",
    ),
    "inst_bound_method": Case(
        "own",
        """
        class O:

            def a(self, x):
                return x * x

            def b(self, x):
                return 7.0 * x

            def __init__(self):
                self.q = self.a
        o = O()

        def f(x):
            return o.q(x)
        """,
        "m.o.q = m.o.b",
    ),
    "nested_dict_object": Case(
        "own",
        """
        class O:
            pass
        o = O()
        o.k = 'a'
        C = {'a': {'b': o}}

        def f(x):
            return x * x if C['a']['b'].k == 'a' else x
        """,
        "m.C['a']['b'].k = 'd'",
    ),
    "lambda_in_dict": Case(
        "item",
        """
        D = {'k': lambda x: x * x}

        def f(x):
            return D['k'](x)
        """,
        "m.D['k'] = lambda x: 7.0 * x",
    ),
    "none_attr": Case(
        "own",
        """
        class O:

            def __init__(self):
                self.k = None
        o = O()

        def f(x):
            return x * x if o.k is None else x * o.k
        """,
        "m.o.k = 5.0",
    ),
    "copy_o": Case(
        "names",
        """
        import copy

        class O:

            def __init__(self):
                self.k = 2.0
        o = O()

        def f(x):
            q = copy.copy(o)
            return x * sum(vars(q).values())
        """,
        "m.o.z = 5.0",
    ),
    "inst_of_enum_eq": Case(
        "own",
        """
        import enum

        class C(enum.Enum):
            A = 1
            B = 2

        class O:
            pass
        o = O()
        o.c = C.A

        def f(x):
            return x * x if o.c is C.A else x
        """,
        "m.o.c = m.C.B",
    ),
    "signature_replaced": Case(
        "given",
        """
        import inspect

        def h(a, k=2.0):
            pass

        def h2(a, k=7.0):
            pass
        S = inspect.signature(h)

        def f(x):
            b = S.bind(x)
            b.apply_defaults()
            return x * b.arguments['k']
        """,
        """
        import inspect
        m.S = inspect.signature(m.h2)
        """,
    ),
    "default_bound_method": Case(
        "known",
        """
        class O:

            def h(self, x):
                return self.g(x)

            def g(self, x):
                return x * x

        class P(O):

            def g(self, x):
                return 7.0 * x
        o = O()

        def h(x, q=o.h):
            return q(x)

        def f(x):
            return h(x)
        """,
        "m.o.__class__ = m.P",
    ),
}
