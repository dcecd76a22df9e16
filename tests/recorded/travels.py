"""Small programs in which numbers travel out of sight: through compiled code, texts, iterators and memory."""

import collections
import ctypes
import decimal
import fractions
import functools
import heapq
import io
import itertools
import json
import math
import operator
import pickle
import random
import statistics
import struct
import types
from collections import ChainMap, Counter, OrderedDict, defaultdict

import numpy as np

X = np.array([0.3, 0.7, 1.2])
M0 = np.array([[0.3, 0.7, 1.2], [0.5, 1.1, 0.2]])
PROGRAMS = []


def p(x=X):
    """A program of an array, with the array."""

    def add(f):
        PROGRAMS.append((f, x))
        return f

    return add


@p()
def where_out(x):
    o=np.zeros(()); np.sum(x,where=np.array([True,False,True]),out=o); return float(o)


@p()
def ufunc_where_out(x):
    o=np.ones(3); np.multiply(x,2.0,out=o,where=x>0.5); return o.sum()


@p()
def pos_out_dot(x):
    o=np.zeros((2,2)); np.dot(np.outer(x[:2],x[1:]),np.eye(2),o); return o.sum()


@p()
def pos_out_clip(x):
    o=np.zeros(3); np.clip(x,0.4,1.0,o); return (o*o).sum()


@p()
def pos_out_cumsum(x):
    o=np.zeros(3); np.cumsum(x,0,None,o); return (o*o).sum()


@p()
def method_out(x):
    o=np.zeros(3); x.cumsum(0,None,o); return (o*o).sum()


@p()
def copyto_kw(x):
    a=np.zeros(3); np.copyto(dst=a,src=x); return (a*a).sum()


@p()
def two_outs(x):
    q,r=np.zeros(3),np.zeros(3); np.divmod(x,0.37,out=(q,r)); return (r*r).sum()


@p()
def scalar_T(x): return x[0].T*2.0+x[1].real*3+x[2].squeeze()


@p()
def float_dunder(x): return float(x[0]).__mul__(2.0)+float(x[1]).conjugate()*float(x[2])


@p()
def np_dunder(x): return x[0].__mul__(2.0)+x.__add__(x).sum()+x.__getitem__(1)


@p()
def rmul_dunder(x): return (2.0).__mul__(float(x[0]))+(2.0).__rsub__(float(x[1]))


@p()
def int_ratio(x):
    n,d=float(x[0]).as_integer_ratio(); return n/d


@p()
def frac(x): return float(fractions.Fraction(float(x[0]))*2)


@p()
def dec(x): return float(decimal.Decimal(float(x[0]))*2)


@p()
def stat_mean(x):
    return statistics.mean([float(v) for v in x]) + statistics.fmean(x) + statistics.pstdev([float(v) for v in x])


@p()
def hexed(x): return float.fromhex(float(x[0]).hex())


@p()
def packed(x): return struct.unpack('d',struct.pack('d',x[0]))[0]*2


@p()
def pickled(x): return pickle.loads(pickle.dumps(x)).sum()


@p()
def pickler(x):
    b=io.BytesIO(); pickle.Pickler(b).dump(x); b.seek(0); return pickle.Unpickler(b).load().sum()


@p()
def jsoned(x): return sum(json.loads(json.dumps(list(x))))


@p()
def tobytes(x): return np.frombuffer(x.tobytes()).sum()


@p()
def saved(x):
    b=io.BytesIO(); np.save(b,x); b.seek(0); return np.load(b).sum()


@p()
def ctyped(x):
    a=x.copy(); pt=a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)); return pt[0]*2


@p()
def mview(x):
    m=memoryview(x.copy()); return m[0]*2+np.asarray(m).sum()


@p(M0)
def map_tuple(x): return sum(r[0]*r[1] for r in map(tuple,x))


@p(M0)
def map_list(x): return sum(r[0]*r[1] for r in list(map(list,x)))


@p(M0)
def map_itemgetter(x): return sum(map(operator.itemgetter(0),x))


@p(M0)
def map_methodcaller(x): return sum(map(operator.methodcaller('sum'),x))


@p()
def map_partial(x): return sum(map(functools.partial(operator.mul,x[0]),x))


@p()
def map_bound(x): return sum(map(x[0].__mul__,[1.,2.,3.]))


@p()
def map_npf(x): return sum(map(np.float64,x))+sum(map(float,x))+sum(map(np.sin,x))+sum(map(abs,x))


@p()
def accumulate_kw(x):
    return sum(itertools.accumulate(x, func=operator.mul)) + sum(
        itertools.accumulate(list(x), operator.mul, initial=x[0])
    )


@p(M0)
def from_iterable(x): return sum(itertools.chain.from_iterable(x))


@p(M0.T.copy())
def dict_of_rows(x): return sum(v for v in dict(x).values())


@p(M0.T.copy())
def starmap_rows(x): return sum(itertools.starmap(operator.mul,x))+sum(itertools.starmap(lambda a,b:a*b,x))


@p(M0.T.copy())
def comp_nested(x): return sum([a*b for i,(a,b) in enumerate(x)])


@p(M0.T.copy())
def comp_pair(x): return sum(a*b for a,b in x)+sum({i:a*b for i,(a,b) in enumerate(x)}.values())


@p(M0.T.copy())
def loop_nested(x):
    s=0.
    for i,(a,b) in enumerate(x): s=s+a*b*i
    for k,(a,*rest) in zip(range(3),x): s=s+a*rest[0]
    return s


@p()
def slice_assign(x):
    l=[0.]*5; l[1:4]=x; return l[1]*l[2]+l[3]


@p()
def deq(x):
    d=collections.deque(x); d.rotate(1); return d[0]*d[1]


@p()
def deq2(x):
    d=collections.deque(x,maxlen=2); d.appendleft(x[0]*2); return d[0]*d[1]


@p()
def counter_add(x):
    c=Counter({'a':x[0]})+Counter({'a':x[1]}); return c['a']*2


@p()
def counter_tot(x): return Counter({'a':x[0],'b':x[1]}).total()


@p()
def counter_upd(x):
    c=Counter(); c.update({'a':x[0]}); c.update({'a':x[1]}); c['a']+=x[2]; return c['a']


@p()
def defdict(x):
    d=defaultdict(float)
    for i,v in enumerate(x): d[i%2]+=v*v
    return d[0]*d[1]


@p()
def odict(x):
    d=OrderedDict(zip('abc',x)); d.move_to_end('a'); return list(d.values())[2]*d['b']


@p()
def chainmap(x): return ChainMap({'a':x[0]},{'b':x[1]})['b']*2


@p()
def bcast(x): return sum(u*v for u,v in np.broadcast(x,x[::-1]))


@p()
def nditer_(x): return sum(float(v)**2 for v in np.nditer(x))+sum(v*i[0] for i,v in np.ndenumerate(x))


@p()
def nditer_buf(x):
    return sum(float(v)**2 for v in np.nditer(x,flags=['buffered'],op_dtypes=['float32'],casting='same_kind'))


@p()
def flat_(x):
    s=0.
    for v in x.reshape(3,1).flat: s=s+v*v
    return s+x.flat[1]+x.reshape(1,3).flat[1:].sum()


@p()
def normal(x):
    rng=np.random.default_rng(0); return rng.normal(x[0],x[1])


@p()
def normal_legacy(x):
    np.random.seed(0); return np.random.normal(x[0],x[1])


@p()
def normal_size(x):
    rng=np.random.default_rng(0); return rng.normal(x,1.0,size=3).sum()


@p()
def shuffle(x):
    rng=np.random.default_rng(3); y=x*2; rng.shuffle(y); return y@np.array([1.,10.,100.])


@p()
def shuffle_legacy(x):
    np.random.seed(3); y=x*2; np.random.shuffle(y); return y@np.array([1.,10.,100.])


@p()
def perm(x):
    rng=np.random.default_rng(3); return rng.permutation(x)@np.array([1.,10.,100.])


@p()
def choice(x):
    rng=np.random.default_rng(3); return rng.choice(x)*2+rng.choice(x,2).sum()


@p()
def py_random(x):
    r = random.Random(1)
    l = list(x)
    r.shuffle(l)
    return l[0] * 100 + r.gauss(x[0], x[1]) + r.choice(l) + r.uniform(x[0], x[1]) + sum(r.sample(l, 2))


@p()
def seeds(x):
    np.random.seed(5); return (np.random.rand(3)*x).sum()+np.random.uniform(x[0],x[1])+np.random.exponential(x[2])


@p()
def frexp(x):
    m,e=math.frexp(x[0]); return m*2.0**e


@p()
def npfrexp(x):
    m,e=np.frexp(x); return np.ldexp(m,e).sum()


@p()
def minimizer(x):
    from scipy.optimize import minimize
    return float(minimize(lambda z,a: np.sum((z-a)**4+(z-a)**2),np.zeros(3),args=(x,),tol=1e-12).x.sum())


@p()
def root_closure(x):
    from scipy.optimize import brentq, root_scalar
    return brentq(lambda t: t**3-x[0]-x[1],0,2)+root_scalar(lambda t: t**2-x[2],bracket=[0,3]).root


@p()
def quad_closure(x):
    from scipy.integrate import quad
    return quad(lambda t: np.exp(-x[0]*t)*x[1],0,x[2])[0]


@p()
def ode(x):
    from scipy.integrate import solve_ivp
    s=solve_ivp(lambda t,y: -x[0]*y,(0,1),[x[1]],rtol=1e-9,atol=1e-9); return s.y[0,-1]


@p()
def interp_obj(x):
    from scipy.interpolate import CubicSpline
    return float(CubicSpline([0.,1.,2.],x)(0.5))


@p()
def interp1(x): return np.interp(0.5,[0.,1.,2.],x)


@p()
def sparse_(x):
    from scipy.sparse import csr_matrix
    return (csr_matrix(np.outer(x,x))@x).sum()


@p()
def sparse_solve(x):
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import spsolve
    return spsolve(csc_matrix(np.diag(x)),np.ones(3)).sum()


@p()
def lists_numeric(x): return np.sum([x[0],[x[1]][0]])+np.mean(list(x))+np.array([[x[0],1],[2,x[1]]]).sum()


@p()
def string_num(x): return float("%.17g"%x[0])


@p()
def string_num2(x): return float("{:.17g}".format(x[0]))


@p()
def repr_eval(x): return eval(repr(float(x[0])))


@p()
def int_bits(x): return x.view(np.int64).view(np.float64).sum()


@p()
def cplxview(x): return x[:2].copy().view(complex)[0].imag


@p()
def struct_arr(x):
    a=np.zeros(3,dtype=[('u',float),('v',int)]); a['u']=x; return (a['u']**2).sum()


@p()
def struct_row(x):
    a=np.zeros(3,dtype=[('u',float),('v',float)]); a['u']=x; return a[0]['u']*2+a[1].tolist()[0]


@p()
def recarr(x):
    a=np.rec.fromarrays([x,x*2],names='a,b'); return (a.a*a.b).sum()


@p()
def matrix_(x): return (np.matrix(np.outer(x,x))*np.matrix(x).T).sum()


@p()
def masked(x):
    m=np.ma.array(x,mask=[0,1,0]); return (m*m).sum()+m.mean()


@p()
def masked_fill(x): return np.ma.masked_less(x,.5).filled(0.).sum()+np.ma.median(np.ma.array(x))


@p()
def polyn(x): return np.poly1d(x)(2.0)+np.polynomial.Polynomial(x)(0.5)+np.polyval(x,0.3)


@p()
def polyfit_(x): return np.polyfit([0.,1.,2.],x,1).sum()


@p()
def namedt(x):
    T=collections.namedtuple('T','a b'); t=T(x[0],x[1]); return t._replace(a=t.a*2).a*t.b+sum(t)+t._asdict()['b']


@p()
def simplens(x):
    n=types.SimpleNamespace(a=x[0]); n.a*=2; return n.a*vars(n)['a']


@p()
def sort_key(x): return sorted(x,key=lambda v:-v)[0]*max(x,key=lambda v:-v)


@p()
def heap(x):
    h=[(float(v),v*2) for v in x]; heapq.heapify(h); return heapq.heappop(h)[1]+heapq.nsmallest(1,[v for _,v in h])[0]


@p()
def gen_send(x):
    def g():
        y=yield x[0]
        yield y*2
    i=g(); a=next(i); return i.send(a*3)


@p()
def exec_fn(x):
    d={'np':np}; exec("def h(v):\n    return np.sum(v*v)\n",d); return d['h'](x)


@p()
def lambdify_like(x): return eval("lambda a,b: a*b+a")(x[0],x[1])


@p()
def vec_excluded(x):
    return (
        np.vectorize(lambda a, b: a * b if a > 0.5 else a)(x, x[::-1]).sum()
        + np.frompyfunc(lambda a: a * a, 1, 1)(x).sum()
    )


@p()
def apply_axis(x):
    return (
        np.apply_along_axis(lambda r: r * r, 0, x).sum()
        + np.piecewise(x, [x < 0.5, x >= 0.5], [lambda v: v * 2, lambda v: v**2]).sum()
    )


@p()
def select_(x):
    return (
        np.select([x < 0.5, x < 1], [x, x * 2], x * 3).sum()
        + np.choose([0, 1, 0], [x, x * 2]).sum()
        + np.where(x > 0.5, x, -x).sum()
    )


@p()
def take_put(x):
    y=x.copy(); np.put(y,[0],x[1]*5); y.put([1],x[2]); np.place(y,y>1,[x[0]]); return y@X+x.take([0,0]).sum()


@p()
def fill_diag(x):
    a = np.zeros((3, 3))
    np.fill_diagonal(a, x)
    a.fill(x[0]) if False else None
    b = np.empty(3)
    b.fill(x[1])
    return (a @ x).sum() + b.sum()


@p()
def sort_inplace(x):
    y=x[::-1].copy(); y.sort(); y.partition(1); return y@X+np.sort(x)[0]+np.partition(x,1)[0]


@p()
def einsum_(x): return np.einsum('i,j->',x,x)+np.einsum('i,i',x,x)+np.tensordot(x,x,1)+np.vdot(x,x)


@p()
def fft_(x): return np.abs(np.fft.fft(x)).sum()+np.fft.irfft(np.fft.rfft(x),3)@X


@p()
def linalg_(x):
    A = np.outer(x, x) + np.diag(x + 1)
    w, v = np.linalg.eigh(A)
    return w @ X + np.linalg.inv(A).sum() + np.linalg.cholesky(A).sum() + np.linalg.slogdet(A)[1] + np.linalg.norm(x)


@p()
def scipy_(x):
    from scipy import special, stats
    return special.gammaln(x).sum()+stats.norm.logpdf(x,0.1,x[0]+1).sum()+special.logsumexp(x)


@p()
def inplace_list_arr(x):
    l=[1.,2.,3.]; l*=2; l=l[:3]; l+=x; return np.sum(l)


@p()
def mul_list(x):
    a=[1.,2.,3.]*x; b=x+[1,2,3]; return a.sum()+(b*b).sum()+(x**2*(1,2,3)).sum()


@p()
def tie_max(x): return max(x[1],x[1]*1.0)


@p()
def bool_mask(x):
    y=x.copy(); y[y>.5]*=2; y[[True,False,True]]+=x[1]; return (y*y).sum()


@p()
def swap(x):
    y=x.copy(); y[0],y[1]=y[1],y[0]; y[:2],y[1:]=y[1:].copy(),y[:2].copy(); return y@np.array([1.,10.,100.])


@p()
def rows_swap(x):
    a=np.outer(x,[1.,2.]); a[[0,1]]=a[[1,0]]; a[0]+=a[1]; a.T[0]*=3; return (a*a).sum()


@p()
def resize_(x):
    y = np.resize(x, 5)
    z = np.zeros(2)
    z = np.append(z, x)
    z = np.delete(z, 0)
    z = np.insert(z, 1, x[0])
    return (y * y).sum() + (z * z).sum()


@p()
def split_(x):
    a,b=np.split(np.concatenate([x,x*2]),2); a*=b; return a.sum()+np.array_split(x,2)[0].sum()+np.hsplit(x,3)[1][0]


@p()
def ufm(x):
    return (
        np.add.reduce(x) + np.multiply.accumulate(x)[-1] + np.multiply.outer(x, x).sum() + np.add.reduceat(x, [0, 1])[1]
    )


@p()
def ufat(x):
    y=np.zeros(3); np.add.at(y,[0,0,1],x); np.multiply.at(y,[0],x[:1]); return (y*y).sum()


@p()
def array_kw(x):
    return (
        np.array(object=x).sum()
        + np.sum(a=x)
        + np.full(3, x[0]).sum()
        + np.full_like(x, x[1]).sum()
        + np.linspace(x[0], x[1], 3).sum()
        + np.arange(x[0], 3.0, 1.0).sum()
    )


@p()
def class_ops(x):
    class V:
        def __init__(s,v): s.v=v
        def __mul__(s,o): return V(s.v*(o.v if isinstance(o,V) else o))
        __rmul__=__mul__
        def __add__(s,o): return V(s.v+(o.v if isinstance(o,V) else o))
        __radd__=__add__
        def __neg__(s): return V(-s.v)
        def __abs__(s): return V(abs(s.v))
        def __lt__(s,o): return s.v<o.v
        def __iadd__(s,o): s.v=s.v+o.v; return s
        def __pow__(s,n): return V(s.v**n)
        def __divmod__(s,o): return V(s.v/o),V(s.v)
        def __round__(s,n=0): return V(s.v*3)
    vs=[V(t) for t in x]; t=sum(vs); t+=vs[0]; q,_=divmod(t,2.0)
    return (
        (3 * t * vs[1] + abs(-vs[2]) + pow(vs[0], 2) + q + round(vs[1])).v
        + min(vs).v
        + sorted(vs)[1].v
        + functools.reduce(operator.mul, vs).v
        + math.prod(vs, start=V(1.0)).v
        + np.sum(np.array(vs, dtype=object)).v
    )
