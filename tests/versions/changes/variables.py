"""Variables of modules and closures, builtins, imports: what a program may find changed at its second call."""

from tests.versions.changes import Case

CASES = {
    "builtin_sum": Case(
        "variable",
        """
        def f(x):
            return sum([x * x, x])
        """,
        "m.sum = lambda v: 10.0 * v[0]",
    ),
    "builtin_abs": Case(
        "variable",
        """
        def f(x):
            return abs(x) * 3.0
        """,
        "m.abs = lambda v: 10.0 * v",
    ),
    "builtin_pow": Case(
        "variable",
        """
        def f(x):
            return pow(x, 3)
        """,
        "m.pow = lambda a, b: a * b",
    ),
    "builtin_isinstance": Case(
        "variable",
        """
        def f(x):
            return x * x if isinstance(x, float) else x
        """,
        "m.isinstance = lambda a, b: False",
    ),
    "helper_builtin": Case(
        "variable",
        """
        def h(x):
            return sum([x, x * x])

        def f(x):
            return h(x) * 2.0
        """,
        "m.sum = lambda v: 10.0 * v[0]",
    ),
    "global_removed": Case(
        "variable",
        """
        K = 3.0
        abs = lambda v: 10.0 * v

        def f(x):
            return abs(x) * K
        """,
        "del m.abs",
    ),
    "global_helper": Case(
        "variable",
        """
        def h(x):
            return x * x

        def f(x):
            return h(x)
        """,
        "m.h = lambda x: 7.0 * x",
    ),
    "global_str": Case(
        "variable",
        """
        MODE = 'a'

        def f(x):
            return x * x if MODE == 'a' else x
        """,
        "m.MODE = 'b'",
    ),
    "global_dict_key": Case(
        "variable",
        """
        C = {'mode': 'a'}

        def f(x):
            return x * x if 'z' in C else x
        """,
        "m.C['z'] = 'b'",
    ),
    "global_dict_get": Case(
        "variable",
        """
        C = {'mode': 'a'}

        def f(x):
            return x * C.get('z', 3.0)
        """,
        "m.C['z'] = 5.0",
    ),
    "global_list_len": Case(
        "variable",
        """
        C = [2.0]

        def f(x):
            return x * len(C)
        """,
        "m.C.append(3.0)",
    ),
    "global_set": Case(
        "among",
        """
        C = {'a'}

        def f(x):
            return x * x if 'a' in C else x
        """,
        "m.C.clear()",
    ),
    "closure_fn": Case(
        "variable",
        """
        def make():
            h = lambda x: x * x

            def f(x):
                return h(x)

            def change():
                nonlocal h
                h = lambda x: 7.0 * x
            return (f, change)
        f, change = make()
        """,
        "m.change()",
    ),
    "import_fails_then_works": Case(
        "module",
        """
        def f(x):
            try:
                import s2s_made_up_module as q
                return q.h(x)
            except ImportError:
                return x * x
        """,
        """
        import types, sys
        q = types.ModuleType('s2s_made_up_module')
        q.h = lambda x: 7.0 * x
        sys.modules['s2s_made_up_module'] = q
        """,
    ),
    "import_works_then_fails": Case(
        "module",
        """
        def f(x):
            try:
                import s2s_made_up_two as q
                return q.h * x
            except ImportError:
                return x * x
        """,
        """
        import sys
        sys.modules['s2s_made_up_two'] = None
        """,
        before="""
        import types, sys
        q = types.ModuleType('s2s_made_up_two')
        q.h = 7.0
        sys.modules['s2s_made_up_two'] = q
        """,
    ),
    "import_on_path": Case(
        "module",
        """
        def f(x):
            try:
                import s2s_made_up_four as q
                return q.h(x)
            except ImportError:
                return x * x
        """,
        """
        import os, sys
        folder = os.path.join(sys.path[-1], 'more')
        os.makedirs(folder)
        open(os.path.join(folder, 's2s_made_up_four.py'), 'w').write('def h(x):\\n    return 7.0 * x\\n')
        sys.path.append(folder)
        """,
        after="""
        import sys
        sys.path.pop()
        """,
    ),
    "import_file_appears": Case(
        "module",
        """
        def f(x):
            try:
                import s2s_made_up_five as q
                return q.h(x)
            except ImportError:
                return x * x
        """,
        """
        import os, sys, time
        time.sleep(0.05)  # folders are looked at every hundredth of a second
        open(os.path.join(sys.path[-1], 's2s_made_up_five.py'), 'w').write('def h(x):\\n    return 7.0 * x\\n')
        """,
    ),
    "modules_in": Case(
        "module_if_loaded",
        """
        import sys

        def f(x):
            return x * x if 's2s_made_up_seven' in sys.modules else x
        """,
        """
        import sys
        sys.modules['s2s_made_up_seven'] = sys
        """,
    ),
    "module_helper_builtin": Case(
        "variable",
        """
        import helpmod

        def f(x):
            return helpmod.uses_sum(x)
        """,
        "m.helpmod.sum = lambda v: 10.0 * v[0]",
    ),
    "enum_global": Case(
        "variable",
        """
        import enum

        class C(enum.Enum):
            A = 2.0
            B = 5.0
        M = C.A

        def f(x):
            return x * M.value
        """,
        "m.M = m.C.B",
    ),
    "o_class": Case(
        "variable",
        """
        class O:

            def h(self, x):
                return x * x

        class P:

            def h(self, x):
                return 7.0 * x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.o.__class__ = m.P",
    ),
    "metaclass": Case(
        "variable",
        """
        class O:
            pass

        def f(x):
            return x * x if isinstance(x, O) else x
        """,
        "m.O = float",
    ),
    "partial_global": Case(
        "variable",
        """
        import functools

        def h(k, x):
            return x * k
        p = functools.partial(h, 2.0)

        def f(x):
            return p(x)
        """,
        """
        import functools
        m.p = functools.partial(m.h, 7.0)
        """,
    ),
    "match_class": Case(
        "variable",
        """
        def f(x):
            match x:
                case float():
                    return x * x
                case _:
                    return x
        """,
        "m.float = int",
    ),
    "except_global": Case(
        "variable",
        """
        class E(Exception):
            pass

        class F(Exception):
            pass
        Caught = E

        def f(x):
            try:
                if x > 0:
                    raise E('a')
                return x
            except Caught:
                return x * x
            except Exception:
                return 7.0 * x
        """,
        "m.Caught = m.F",
    ),
    "wrapped": Case(
        "variable",
        """
        import functools

        def deco(fn):

            @functools.wraps(fn)
            def w(x):
                return fn(x) * 2.0
            return w

        @deco
        def h(x):
            return x * x

        def f(x):
            return h(x)
        """,
        "m.h.__closure__[0].cell_contents = lambda x: 7.0 * x",
    ),
    "tuple_const": Case(
        "variable",
        """
        T = ('a', 'b')

        def f(x):
            return x * x if T[0] == 'a' else x
        """,
        "m.T = ('b',)",
    ),
    "array_dtype": Case(
        "variable",
        """
        import numpy as np
        A = np.array([1, 2])

        def f(x):
            return np.sum(A * x) if A.dtype.kind == 'i' else x
        """,
        "m.A = m.A.astype(float)",
    ),
    "array_shape": Case(
        "variable",
        """
        import numpy as np
        A = np.array([1, 2])

        def f(x):
            return np.sum(A * x) * A.shape[0]
        """,
        """
        import numpy as np
        m.A = np.arange(5)
        """,
    ),
    "bool": Case(
        "variable",
        """
        B = True

        def f(x):
            return x * x if B else x
        """,
        "m.B = False",
    ),
    "none": Case(
        "variable",
        """
        B = None

        def f(x):
            return x * x if B is None else x * B
        """,
        "m.B = 3.0",
    ),
    "type_alias": Case(
        "variable",
        """
        T = float

        def f(x):
            return x * x if T is float else x
        """,
        "m.T = int",
    ),
    "signature": Case(
        "variable",
        """
        import inspect

        def h(x, k=1):
            return x

        def f(x):
            return x * len(inspect.signature(h).parameters)
        """,
        "m.h = lambda x: x",
    ),
    "namedtuple_global_str": Case(
        "variable",
        """
        import typing

        class P(typing.NamedTuple):
            a: str
        p = P('a')

        def f(x):
            return x * x if p.a == 'a' else x
        """,
        "m.p = m.P('b')",
    ),
    "deco_closure_str": Case(
        "variable",
        """
        def deco(mode):

            def d(fn):

                def w(x):
                    return fn(x) if mode == 'a' else x
                return w
            return d

        @deco('a')
        def h(x):
            return x * x

        def f(x):
            return h(x)
        """,
        "m.h.__closure__[1].cell_contents = 'b'",
    ),
    "module_alias": Case(
        "variable",
        """
        import helpmod as hm
        import types

        def f(x):
            return hm.h(x)
        """,
        """
        import types
        q = types.ModuleType('q')
        q.h = lambda x: 7.0 * x
        m.hm = q
        """,
    ),
    "submodule_attr": Case(
        "variable",
        """
        import os.path

        def f(x):
            return x * x if os.path.sep == '/' else x
        """,
        "m.os = __import__('types').SimpleNamespace(path=__import__('types').SimpleNamespace(sep='z'))",
    ),
    "const_tuple_of_fn": Case(
        "variable",
        """
        def a(x):
            return x * x

        def b(x):
            return 7.0 * x
        T = (a,)

        def f(x):
            return T[0](x)
        """,
        "m.T = (m.b,)",
    ),
    "frozenset": Case(
        "among",
        """
        S = frozenset({'a'})

        def f(x):
            return x * x if 'a' in S else x
        """,
        "m.S = frozenset()",
    ),
    "complex_nested_closures": Case(
        "variable",
        """
        def make():
            k = 'a'

            def g(x):
                return x * x if k == 'a' else x

            def f(x):
                return g(x)

            def ch():
                nonlocal k
                k = 'b'
            return (f, ch)
        f, ch = make()
        """,
        "m.ch()",
    ),
    "decorated_differentiable_opts": Case(
        "variable",
        """
        import s2s, numpy as np

        @s2s.differentiable(nonsmooth='zero')
        def h(x):
            return np.floor(x) * x

        def f(x):
            return h(x)
        """,
        """
        import s2s
        m.h = s2s.differentiable(lambda x: 7.0 * x)
        """,
    ),
    "bool_of_list": Case(
        "variable",
        """
        L = []

        def f(x):
            return x * x if L else x
        """,
        "m.L.append(1)",
    ),
    "len_str": Case(
        "variable",
        """
        L = 'ab'

        def f(x):
            return x * len(L)
        """,
        "m.L = 'abc'",
    ),
    "flag": Case(
        "variable",
        """
        import enum

        class C(enum.Flag):
            A = 1
            B = 2
        K = C.A

        def f(x):
            return x * x if K & C.A else x
        """,
        "m.K = m.C.B",
    ),
    "builtin_of_generated": Case(
        "builtin",
        """
        import numpy as np

        def f(x):
            k = 0
            while k < 3:
                x = np.sin(x) * x
                k += 1
            return x * x
        """,
        """
        m.range = lambda *n: []
        m.reversed = lambda n: []
        m.len = None
        """,
        is_same=True,
    ),
    "builtin_of_generated_for": Case(
        "builtin",
        """
        def f(x):
            s = x
            for k in range(3):
                s = s * x * k + x
            return s
        """,
        "m.reversed = lambda n: []",
        is_same=True,
    ),
    "module_loaded": Case(
        "module_if_loaded",
        """
        import sys

        def f(x):
            return x * x if 's2s_made_up_seven' in sys.modules else x
        """,
        """
        import sys
        sys.modules['s2s_made_up_seven'] = sys
        """,
    ),
    "module_get": Case(
        "module_if_loaded",
        """
        import sys

        def f(x):
            return x * x if sys.modules.get('s2s_made_up_seven') is None else x
        """,
        """
        import sys
        sys.modules['s2s_made_up_seven'] = sys
        """,
    ),
}
