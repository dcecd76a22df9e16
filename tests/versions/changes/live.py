"""What the code reads when it runs, or what guards of several folds see to: what may be changed at a second call."""

from tests.versions.changes import Case

CASES = {
    "builtin_max": Case(
        "",
        """
        def f(x):
            return max(x, 0.1) * x
        """,
        "m.max = lambda a, b: a * b",
    ),
    "builtin_float": Case(
        "",
        """
        def f(x):
            return float(x) * x
        """,
        "m.float = lambda a: a * a",
    ),
    "own_code": Case(
        "",
        """
        def g(x):
            return 7.0 * x

        def f(x):
            return x * x
        """,
        "m.f.__code__ = m.g.__code__",
    ),
    "mutable_default_list": Case(
        "",
        """
        def h(x, k=[3.0, 1.0]):
            return x * x * k[0]

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0][0] = 5.0",
    ),
    "mutable_default_dict": Case(
        "",
        """
        def h(x, k={'a': 3.0}):
            return x * x * k['a']

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0]['a'] = 5.0",
    ),
    "global_dict": Case(
        "",
        """
        C = {'mode': 'a'}

        def f(x):
            return x * x if C['mode'] == 'a' else x
        """,
        "m.C['mode'] = 'b'",
    ),
    "global_int": Case(
        "",
        """
        N = 2

        def f(x):
            for k in range(N):
                x = x * x
            return x
        """,
        "m.N = 3",
    ),
    "global_fn_list": Case(
        "",
        """
        def a(x):
            return x * x

        def b(x):
            return 7.0 * x
        FS = [a, a]

        def f(x):
            for h in FS:
                x = h(x)
            return x
        """,
        "m.FS[1] = m.b",
    ),
    "global_fn_dict": Case(
        "",
        """
        def a(x):
            return x * x

        def b(x):
            return 7.0 * x
        FS = {'k': a}

        def f(x):
            return FS['k'](x)
        """,
        "m.FS['k'] = m.b",
    ),
    "global_missing_fn_try": Case(
        "",
        """
        def f(x):
            try:
                return extra(x)
            except NameError:
                return x * 2.0
        """,
        "m.extra = lambda x: x * 5.0",
    ),
    "fn_attr_float": Case(
        "",
        """
        def h(x):
            return x * h.k
        h.k = 2.0

        def f(x):
            return h(x)
        """,
        "m.h.k = 5.0",
    ),
    "fn_attr_hasattr": Case(
        "",
        """
        def h(x):
            return x * x if hasattr(h, 'mode') else x

        def f(x):
            return h(x)
        """,
        "m.h.mode = 'b'",
    ),
    "find_spec": Case(
        "",
        """
        import importlib.util

        def f(x):
            if importlib.util.find_spec('s2s_made_up_six') is None:
                return x * x
            return 7.0 * x
        """,
        """
        import sys, os
        d = os.path.join(sys.path[-1], 'p6')
        os.makedirs(d)
        open(d + '/s2s_made_up_six.py', 'w').write('def h(x):\\n    return 7.0*x\\n')
        sys.path.append(d)
        """,
    ),
    "module_hasattr": Case(
        "",
        """
        import helpmod

        def f(x):
            return x * x if hasattr(helpmod, 'zzz') else x
        """,
        "m.helpmod.zzz = 1",
    ),
    "module_float": Case(
        "",
        """
        import helpmod

        def f(x):
            return x * helpmod.K
        """,
        "m.helpmod.K = 9.0",
    ),
    "builtins_module": Case(
        "",
        """
        def f(x):
            return abs(x) * x
        """,
        """
        import builtins
        m.old = builtins.abs
        builtins.abs = lambda v: 10.0 * v * v
        """,
        after="""
        import builtins
        builtins.abs = m.old
        """,
    ),
    "enum_list_value": Case(
        "",
        """
        import enum

        class C(enum.Enum):
            A = [2.0, 3.0]

        def f(x):
            return x * C.A.value[1]
        """,
        "m.C.A.value[1] = 9.0",
    ),
    "enum_iteration": Case(
        "",
        """
        import enum

        class C(enum.Enum):
            A = 2.0
            B = 5.0

        def f(x):
            s = 0.0
            for c in C:
                s = s + x * c.value
            return s
        """,
        "m.C.B._value_ = 9.0",
    ),
    "vars_module": Case(
        "",
        """
        import helpmod

        def f(x):
            return x * x if 'vvv' in vars(helpmod) else x
        """,
        "m.helpmod.vvv = 1",
    ),
    "globals": Case(
        "",
        """
        def f(x):
            return x * x if 'vvv' in globals() else x
        """,
        "m.vvv = 1",
    ),
    "cached_property": Case(
        "",
        """
        import functools

        class O:

            def __init__(self):
                self.w = 2.0

            @functools.cached_property
            def k(self):
                return self.w * 1.5
        o = O()

        def f(x):
            return x * o.k + 0.0 * x * o.w
        """,
        """
        m.o.__dict__.pop('k', 0)
        m.o.w = 9.0
        """,
    ),
    "class_attr_int": Case(
        "",
        """
        class O:
            n = 2

        def f(x):
            for k in range(O.n):
                x = x * x
            return x
        """,
        "m.O.n = 3",
    ),
    "class_hasattr": Case(
        "",
        """
        class O:
            pass

        def f(x):
            return x * x if hasattr(O, 'q') else x
        """,
        "m.O.q = 1",
    ),
    "class_hasattr_o": Case(
        "",
        """
        class O:

            def q(self):
                pass
        o = O()

        def f(x):
            return x * x if hasattr(o, 'q') else x
        """,
        "del m.O.q",
    ),
    "class_gains_getattribute": Case(
        "",
        """
        class O:

            def __init__(self):
                self.k = 2.0
        o = O()

        def f(x):
            return x * o.k
        """,
        "m.O.__getattribute__ = lambda self, n: 7.0",
    ),
    "class_gains_property": Case(
        "",
        """
        class O:

            def __init__(self):
                self.k = 2.0
        o = O()

        def f(x):
            return x * o.k
        """,
        "m.O.k = property(lambda self: 7.0)",
    ),
    "mappingproxy": Case(
        "",
        """
        import types
        D = {'k': 2.0}
        P = types.MappingProxyType(D)

        def f(x):
            return x * P['k']
        """,
        "m.D['k'] = 7.0",
    ),
    "environ": Case(
        "",
        """
        import os

        def f(x):
            return x * x if os.environ.get('S2S_ZZZ', 'a') == 'a' else x
        """,
        """
        import os
        os.environ['S2S_ZZZ'] = 'b'
        """,
        after="""
        import os
        del os.environ['S2S_ZZZ']
        """,
    ),
    "geterr": Case(
        "",
        """
        import numpy as np

        def f(x):
            return x * x if np.geterr()['divide'] == 'warn' else x
        """,
        """
        import numpy as np
        np.seterr(divide='ignore')
        """,
        after="""
        import numpy as np
        np.seterr(divide='warn')
        """,
    ),
    "contextvar": Case(
        "",
        """
        import contextvars
        V = contextvars.ContextVar('V', default='a')

        def f(x):
            return x * x if V.get() == 'a' else x
        """,
        "m.V.set('b')",
    ),
    "defaultdict": Case(
        "",
        """
        import collections
        D = collections.defaultdict(lambda: 'a')

        def f(x):
            return x * x if D['k'] == 'a' else x
        """,
        "m.D['k'] = 'b'",
    ),
    "simplenamespace": Case(
        "",
        """
        import types
        S = types.SimpleNamespace(k='a')

        def f(x):
            return x * x if S.k == 'a' else x
        """,
        "m.S.k = 'b'",
    ),
    "array_content": Case(
        "",
        """
        import numpy as np
        A = np.array([1, 2])

        def f(x):
            return np.sum(A * x)
        """,
        "m.A[0] = 9",
    ),
    "type_dict": Case(
        "",
        """
        class O:
            k = 'a'

        def f(x):
            return x * x if 'z' in O.__dict__ else x
        """,
        "m.O.z = 1",
    ),
    "mro": Case(
        "",
        """
        class A:
            pass

        class B:
            pass

        class O(A):
            pass

        def f(x):
            return x * x if O.__mro__[1] is A else x
        """,
        "m.O.__bases__ = (m.B,)",
    ),
    "default_list_item": Case(
        "",
        """
        def h(x, k=[3.0, 1.0]):
            s = 0.0
            for v in k:
                s = s + x * v
            return s

        def f(x):
            return h(x)
        """,
        "m.h.__defaults__[0][0] = 5.0",
    ),
    "class_dict": Case(
        "",
        """
        class O:
            reg = {'k': 'a'}

            def h(self, x):
                return x * x if self.reg['k'] == 'a' else x
        o = O()

        def f(x):
            return o.h(x)
        """,
        "m.O.reg['k'] = 'b'",
    ),
    "inst_tuple": Case(
        "",
        """
        class O:

            def __init__(self):
                self.q = ('a', 1)
        o = O()

        def f(x):
            return x * x if o.q[0] == 'a' else x
        """,
        "m.o.q = ('b', 1)",
    ),
    "nested_dict": Case(
        "",
        """
        C = {'a': {'b': 'c'}}

        def f(x):
            return x * x if C['a']['b'] == 'c' else x
        """,
        "m.C['a']['b'] = 'd'",
    ),
    "global_class_rebound": Case(
        "",
        """
        class A:
            k = 2.0

        class B:
            k = 5.0

        def f(x):
            return x * A().k
        """,
        "m.A = m.B",
    ),
    "slice_global": Case(
        "",
        """
        import numpy as np
        S = slice(0, 2)

        def f(x):
            return np.sum((x * np.arange(4.0))[S])
        """,
        "m.S = slice(0, 4)",
    ),
    "range_global": Case(
        "",
        """
        R = range(2)

        def f(x):
            s = 0.0
            for k in R:
                s = s + x * k
            return s
        """,
        "m.R = range(4)",
    ),
    "attrgetter": Case(
        "",
        """
        import operator

        class O:
            pass
        o = O()
        o.k = 'a'
        g_ = operator.attrgetter('k')

        def f(x):
            return x * x if g_(o) == 'a' else x
        """,
        "m.o.k = 'b'",
    ),
    "sys_argv": Case(
        "",
        """
        import sys

        def f(x):
            return x * x if 'zzz' in sys.argv else x
        """,
        """
        import sys
        sys.argv.append('zzz')
        """,
        after="""
        import sys
        sys.argv.remove('zzz')
        """,
    ),
    "sys_path_len": Case(
        "",
        """
        import sys

        def f(x):
            return x * len(sys.argv)
        """,
        """
        import sys
        sys.argv.append('zzz')
        """,
        after="""
        import sys
        sys.argv.remove('zzz')
        """,
    ),
    "user_code_property_on_enum": Case(
        "",
        """
        import enum

        class C(enum.Enum):
            A = 2.0

            @property
            def twice(self):
                return self.value * 2.0

        def f(x):
            return x * C.A.twice
        """,
        "m.C.A._value_ = 5.0",
    ),
    "enum_str_property": Case(
        "",
        """
        import enum

        class C(enum.Enum):
            A = 'p'

            @property
            def tag(self):
                return self.value + 'q'

        def f(x):
            return x * x if C.A.tag == 'pq' else x
        """,
        "m.C.A._value_ = 'z'",
    ),
    "init_subclass_registry": Case(
        "",
        """
        class B:
            reg = {}

            def __init_subclass__(cls):
                B.reg[cls.__name__] = cls

        class P(B):

            def h(self, x):
                return x * x

        def f(x):
            return B.reg['P']().h(x)
        """,
        """
        class Q:

            def h(self, x):
                return 7.0 * x
        m.B.reg['P'] = Q
        """,
    ),
}
