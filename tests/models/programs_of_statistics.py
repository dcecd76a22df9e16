"""As tests/models/value_programs.py: of ``scipy.stats``, of draws, and of what iterates and orders."""

from __future__ import annotations

import bisect
import heapq
import itertools
from typing import Any

import numpy as np
from numpy.linalg import _umath_linalg as gufuncs
from scipy import stats
from scipy.stats import _multivariate

from tests.models.value_programs import Program, by, each

RNG = np.random.default_rng(5)
A, B, C = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 4)), RNG.normal(size=(5, 4))
ABOVE = 0.3 + RNG.random((6, 4))
WEIGHTS = np.linspace(0.5, 2.0, 6)
AXES = by("axis", 0, 1, None)
KEEP = [{**one, "keepdims": keep} for one in AXES for keep in (False, True)]

# --- of values --------------------------------------------------------------------------------------------------------


def of_test(outcome: Any) -> list[Any]:
    """What a test tells: as a pair, and by its attributes."""
    statistic, p = outcome
    return [statistic, p, outcome.statistic, outcome.pvalue, outcome[0], outcome[1], len(outcome)]


def with_freedom(outcome: Any) -> list[Any]:
    return [*of_test(outcome), outcome.df]


def of_line(line: Any) -> list[Any]:
    return [
        *line,
        line.slope,
        line.intercept,
        line.rvalue,
        line.pvalue,
        line.stderr,
        line.intercept_stderr,
        line[1],
        len(line),
    ]


SIDES = by("alternative", "two-sided", "less", "greater")
LIMITS = [
    {"limits": limits, "inclusive": inclusive, **more}
    for limits in (None, (-0.7, None), (None, 0.9), (float(A[0, 0]), float(np.max(A))))
    for inclusive, more in (((True, True), {}), ((False, False), {"axis": None}), ((True, False), {"ddof": 0}))
]
STATISTICS: list[Program] = [
    *each(
        lambda do, **o: [
            do(stats.gmean)(ABOVE, **o),
            do(stats.hmean)(ABOVE, **o),
            do(stats.pmean)(ABOVE, 1.7, **o),
            do(stats.pmean)(ABOVE, 0, **o),
            do(stats.moment)(A, 3, **o),
            do(stats.moment)(A, 2, center=0.4, **o),
            do(stats.skew)(A, **o),
            do(stats.skew)(A, bias=False, **o),
            do(stats.kurtosis)(A, **o),
            do(stats.kurtosis)(A, bias=False, **o),
            do(stats.kurtosis)(A, fisher=False, **o),
            do(stats.sem)(A, **o),
            do(stats.sem)(A, ddof=0, **o),
            do(stats.variation)(ABOVE, **o),
            do(stats.variation)(ABOVE, ddof=1, **o),
            do(stats.entropy)(ABOVE, **o),
            do(stats.entropy)(ABOVE, ABOVE**2, 2.0, **o),
            do(stats.gstd)(ABOVE, **o),
            do(stats.gstd)(ABOVE, ddof=0, **o),
            do(stats.iqr)(A, **o),
            do(stats.iqr)(A, rng=(80, 15), scale="normal", **o),
            do(stats.iqr)(A, scale=2.0, interpolation="midpoint", **o),
            do(stats.tsem)(A, **o),
            *of_test(do(stats.ttest_1samp)(A, 0.3, **o)),
            *of_test(do(stats.ttest_rel)(A, B, **o)),
        ],
        *KEEP,
    ),
    *each(
        lambda do, **o: [
            do(stats.gmean)(ABOVE.T, weights=WEIGHTS, **o),
            do(stats.hmean)(ABOVE.T, weights=WEIGHTS, **o),
            do(stats.pmean)(ABOVE.T, -0.5, weights=WEIGHTS, **o),
            do(stats.pmean)(ABOVE.T, 0, weights=WEIGHTS, **o),
        ],
        {"axis": 1},
        {"axis": 1, "keepdims": True},
    ),
    lambda do: [do(stats.skew)(A[:2], bias=False), do(stats.kurtosis)(A[:3], bias=False)],
    *each(
        lambda do, **o: [do(stats.zscore)(A, **o), do(stats.zscore)(A, ddof=1, **o), do(stats.zmap)(B, A, **o)], *AXES
    ),
    lambda do: do(stats.zmap)(C, A, ddof=1),
    *each(lambda do, **o: [do(stats.tvar)(A, **o), do(stats.tstd)(A, **o), do(stats.tsem)(A, **o)], *LIMITS),
    *each(
        lambda do, **o: [
            with_freedom(do(stats.ttest_1samp)(A, 0.3, **o)),
            with_freedom(do(stats.ttest_rel)(A, B, **o)),
            with_freedom(do(stats.ttest_ind)(A, C, **o)),
            with_freedom(do(stats.ttest_ind)(A, C, equal_var=False, **o)),
            of_line(do(stats.linregress)(A[:, 0], B[:, 1], **o)),
        ],
        *SIDES,
    ),
    *each(
        lambda do, **o: [
            of_test(do(stats.ttest_ind)(A, B, **o)),
            of_test(do(stats.ttest_ind)(A, B, equal_var=False, **o)),
        ],
        *KEEP,
    ),
    lambda do: [*do(stats.pearsonr)(A[:, 0], B[:, 0]), *do(stats.pearsonr)(A[0], -3.0 * A[0] + B[0])],
    lambda do: [*do(stats.pearsonr)(A, B, axis=1)],
    lambda do: [*do(stats.pointbiserialr)(A[:, 0] > 0.1, B[:, 0])],
    *each(
        lambda do, lambda_: [
            of_test(do(stats.power_divergence)(f, lambda_=lambda_, **more))
            for f, more in (
                (COUNTS, {}),
                (COUNTS[0], {"ddof": 1}),
                (COUNTS, {"axis": 1}),
                (COUNTS, {"axis": None}),
                (COUNTS[0], {"f_exp": np.full(4, np.mean(COUNTS[0]))}),
            )
        ],
        *by(
            "lambda_",
            None,
            "pearson",
            "log-likelihood",
            "freeman-tukey",
            "mod-log-likelihood",
            "neyman",
            "cressie-read",
            0.4,
            1,
            0,
            -1,
        ),
    ),
    lambda do: of_test(do(stats.chisquare)(COUNTS, COUNTS[:, ::-1] + 0.0, axis=1)),
    lambda do: [do(KERNELS.evaluate)(A[:3].T[:2]), do(KERNELS.evaluate)(A[0, :2]), do(KERNELS.logpdf)(A[:3].T[:2])],
    lambda do: [do(ON_LINE.evaluate)(A[0]), do(ON_LINE.logpdf)(A[0]), do(ON_LINE.logpdf)(0.2)],
]
COUNTS = np.array([[8.0, 12.0, 9.0, 11.0], [7.0, 6.0, 13.0, 14.0], [10.0, 9.0, 12.0, 9.0]])
KERNELS, ON_LINE = stats.gaussian_kde(B.T[:2], weights=WEIGHTS), stats.gaussian_kde(B[:, 0], 0.5)

# --- distributions ----------------------------------------------------------------------------------------------------

CONTINUOUS: dict[str, tuple[float, ...]] = {
    "norm": (),
    "expon": (),
    "uniform": (),
    "gamma": (2.2,),
    "beta": (2.1, 3.2),
    "t": (3.5,),
    "cauchy": (),
    "ncx2": (3.0, 1.1),
    "truncnorm": (-0.5, 2.0),
    "gumbel_r": (),
    "weibull_max": (2.9,),
}
PLACES = np.array([-30.0, -2.0, 0.2, 0.9, 1.5, 2.8, 40.0, np.nan])
SHARES = np.array([-0.1, 0.0, 0.2, 0.7, 1.0, 1.1, np.nan])


def methods(do: Any, name: str, x: Any, q: Any, **where: Any) -> list[Any]:
    one, shapes = getattr(stats, name), CONTINUOUS[name]
    found = [
        do(getattr(one, method))(x, *shapes, **where) for method in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
    ]
    return [*found, do(one.ppf)(q, *shapes, **where), do(one.isf)(q, *shapes, **where)]


def moments(do: Any, name: str, *where: Any) -> list[Any]:
    one, shapes = getattr(stats, name), CONTINUOUS[name]
    return [do(getattr(one, method))(*shapes, *where) for method in ("mean", "var", "std", "median", "entropy")]


def frozen(do: Any, name: str) -> list[Any]:
    made = do(getattr(stats, name).freeze)(*CONTINUOUS[name], loc=0.2, scale=1.3)
    x, q = PLACES[2:5], SHARES[2:4]
    return [
        made.pdf(x),
        made.logpdf(x),
        made.cdf(x),
        made.logcdf(x),
        made.sf(x),
        made.logsf(x),
        made.ppf(q),
        made.isf(q),
        made.mean(),
        made.var(),
        made.std(),
        made.median(),
        made.entropy(),
    ]


def discrete(do: Any, name: str, shapes: tuple[float, ...], k: Any, **where: Any) -> list[Any]:
    one = getattr(stats, name)
    return [
        do(getattr(one, method))(k, *shapes, **where) for method in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
    ]


def frozen_discrete(do: Any) -> list[Any]:
    made = do(stats.binom.freeze)(5, 0.4, loc=1)
    return [made.pmf(3), made.logpmf([1, 2]), made.cdf(2), made.sf(2), made.mean(), made.var()]


def normal(do: Any, method: str) -> list[Any]:
    density = do(getattr(stats.multivariate_normal, method))
    points, cov = A[:, :2], np.array([[2.0, 0.3], [0.3, 1.0]])
    return [
        density(points, A[0, :2], cov),
        density(points[0], [0.1, 0.2], cov),
        density(points, None, cov),
        density(points, [0.1, 0.2], 1.7),
        density(points, [0.1, 0.2], [1.7, 0.4]),
        density(0.3),
        density(0.3, 0.1, 2.0),
        density(A[0], 0.1, 2.0),
        density(points, allow_singular=True, cov=cov),
        density(SOLID, A[0, :2], cov),
    ]


def frozen_normal(do: Any) -> list[Any]:
    made = do(stats.multivariate_normal.__call__)([0.1, 0.2], np.array([[2.0, 0.3], [0.3, 1.0]]))
    return [made.pdf(A[:, :2]), made.logpdf(A[0, :2])]


def positive(do: Any) -> list[Any]:
    made, x = do(_multivariate._PSD)(np.array([[2.0, 0.3], [0.3, 1.0]])), A[:, :2]
    return [made.rank, made.log_pdet, made.pinv, np.sum((x @ made.U) ** 2, axis=1), np.all(made._support_mask(x))]


SOLID = RNG.normal(size=(2, 3, 2))
K = np.array([-1.0, 0.0, 1.0, 2.0, 2.5, 5.0, 9.0])
DISTRIBUTIONS: list[Program] = [
    *each(
        lambda do, name: [
            *methods(do, name, PLACES, SHARES),
            *methods(do, name, PLACES[:6], SHARES, loc=-0.4, scale=2.0),
            *methods(do, name, 0.4, 0.3, scale=np.array([0.5, 2.0])),
            *methods(do, name, [0.4, 0.7], [0.3, 0.4]),
            *methods(do, name, PLACES[2:6].reshape(2, 2), SHARES[2:4], scale=np.array([1.0, -1.0]))[:6],
            *methods(do, name, 0.7, 0.25),
        ],
        *by("name", *CONTINUOUS),
    ),
    *each(
        lambda do, name: [*moments(do, name), *moments(do, name, 0.3, 1.7)],
        *by("name", *(name for name in CONTINUOUS if name not in ("ncx2", "truncnorm", "cauchy", "weibull_max"))),
    ),
    *each(frozen, *by("name", "norm", "gamma")),
    lambda do: do(stats.gamma.pdf)(PLACES[:6], np.array([1.5, 2.0, 2.5, -1.0, 3.0, 3.5]), 0.1, 1.2),
    lambda do: [do(stats.gamma.pdf)(0.4, a=[1.5, 2.0]), do(stats.beta.cdf)(0.4, 1.2, b=2.0, loc=0.1)],
    lambda do: [do(stats.ncx2.logpdf)(PLACES[2:6], 3.0, nc) for nc in (0.0, 1.1, np.array([0.0, 1.0, 0.0, 2.0]))],
    lambda do: [do(stats.ncx2._logpdf)(PLACES[2:6], 3.0, np.array([0.0, 1.0, 0.0, 2.0]))],
    *each(
        lambda do, name, shapes: [
            *discrete(do, name, shapes, K),
            *discrete(do, name, shapes, 2),
            *discrete(do, name, shapes, [1, 3], loc=1),
        ],
        {"name": "poisson", "shapes": (2.3,)},
        {"name": "binom", "shapes": (5, 0.4)},
        {"name": "geom", "shapes": (0.3,)},
        {"name": "poisson", "shapes": (-1.0,)},
        {"name": "nbinom", "shapes": (3.5, 0.4)},
    ),
    frozen_discrete,
    *each(normal, *by("method", "pdf", "logpdf")),
    frozen_normal,
    positive,
]

# --- draws ------------------------------------------------------------------------------------------------------------

COV = np.array([[2.4, 0.5, 0.1], [0.5, 1.9, 0.0], [0.1, 0.0, 0.7]])
P = np.array([0.4, 1.3, 0.9])


def drawn(do: Any, maker: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Two draws: the second one shows how far the first one has moved the generator."""
    r = maker(7)
    return [do(getattr(r, name))(*args, **options), r.uniform()]


def shuffled(do: Any, maker: Any, of: str, axis: Any = None) -> Any:
    r = maker(7)
    items: Any = list(P) if of == "list" else np.outer(P, P + 1.0)[:, :2] if of == "rows" else P.copy()
    do(r.shuffle)(items, **({} if axis is None else {"axis": axis}))
    return [items, r.uniform()]


MAKERS = (np.random.default_rng, np.random.RandomState)
TWO = ("uniform", "normal", "lognormal", "laplace", "logistic", "gumbel")
ONE = ("exponential", "rayleigh", "weibull", "pareto", "power", "standard_gamma", "chisquare", "standard_t")


def of_all(name: str, args: tuple[Any, ...], makers: Any = MAKERS, **options: Any) -> list[dict[str, Any]]:
    return [{"maker": maker, "name": name, "args": args, "options": options} for maker in makers]


DRAWS: list[Program] = [
    *each(
        drawn,
        *[
            one
            for name in TWO
            for args in ((), (0.3, 1.7), (P, 2.5, (2, 3)), (0.3, P), (0.3, 1.7, 4))
            for one in of_all(name, args)
        ],
    ),
    *each(
        drawn, *[one for name in ONE for args in ((1.7,), (P,), (P, (2, 3)), (1.7, 4)) for one in of_all(name, args)]
    ),
    *each(
        drawn,
        *[
            one
            for name in ("gamma", "beta")
            for args in ((1.7, 0.8), (P, 0.5, (2, 3)), (0.3, P))
            for one in of_all(name, args)
        ],
    ),
    *each(
        drawn,
        *of_all("gamma", (1.7,)),
        *of_all("triangular", (0.2, 0.5, 3.0)),
        *of_all("triangular", (P, 1.5, 3.0 + P, (8, 3))),
    ),
    *each(
        drawn,
        *[one for size in (None, 4, (2, 3), np.int64(3)) for one in of_all("multivariate_normal", (P, COV, size))],
    ),
    *each(
        drawn,
        *[
            one
            for method in ("svd", "eigh", "cholesky")
            for one in of_all("multivariate_normal", (P, COV, 4), MAKERS[:1], method=method, check_valid="raise")
        ],
    ),
    *each(
        drawn,
        *of_all("multivariate_normal", (P, COV), check_valid="raise"),
        *of_all("permutation", (P,)),
        *of_all("permutation", (list(P),)),
        *of_all("permutation", (COV,)),
        *of_all("permutation", (COV,), MAKERS[:1], axis=1),
        *of_all("permuted", (COV,), MAKERS[:1]),
        *of_all("permuted", (COV,), MAKERS[:1], axis=1),
    ),
    *each(
        drawn,
        *[
            one
            for args in ((P,), (5, 3), (P, (2, 2)), (P, 3, False), (P, 3, True, [0.2, 0.5, 0.3]))
            for one in of_all("choice", args)
        ],
    ),
    *each(
        drawn,
        *of_all("choice", (COV[:, :2], 2), MAKERS[:1], axis=1, shuffle=False, replace=False),
        *of_all("choice", (COV, 2), MAKERS[:1]),
    ),
    *each(
        shuffled,
        *[{"maker": maker, "of": of} for maker in MAKERS for of in ("list", "rows", "array")],
        {"maker": MAKERS[0], "of": "rows", "axis": 1},
    ),
]

# --- what iterates and orders -----------------------------------------------------------------------------------------

NUMBERS, LETTERS, PAIRS = [3.0, -1.0, 2.0, 2.0, 5.0, -4.0], "abcd", [(2.0, 3.0), (-1.0, 4.0)]


def is_positive(x: Any) -> bool:
    return bool(x > 0)


def groups(do: Any, **options: Any) -> Any:
    return [(key, list(items)) for key, items in do(itertools.groupby)([1.0, 1.0, -2.0, -3.0, 1.0], **options)]


def heaped(do: Any) -> Any:
    heap = list(NUMBERS)
    do(heapq.heapify)(heap)
    found: list[Any] = [list(heap)]
    for item in (0.5, -7.0, 9.0):
        do(heapq.heappush)(heap, item)
        found.append(list(heap))
    found += [do(heapq.heappop)(heap), list(heap), do(heapq.heappushpop)(heap, 2.5), list(heap)]
    found += [do(heapq.heappushpop)(heap, -20.0), do(heapq.heapreplace)(heap, 0.1), list(heap)]
    return found


def inserted(do: Any, way: Any, *bounds: Any, **options: Any) -> Any:
    items = sorted(NUMBERS, **options)
    do(way)(items, 2.0, *bounds, **options)
    tagged = [(1, "a"), (2, "b"), (2, "c"), (3, "d")]
    do(way)(tagged, (2, "new"), key=lambda pair: pair[0])
    return [items, [word for _, word in tagged]]


ITERATING: list[Program] = [
    lambda do: list(do(itertools.chain)(NUMBERS, [], PAIRS[0])),
    *each(
        lambda do, **o: list(do(itertools.accumulate)(NUMBERS, **o)),
        {},
        {"initial": 4.0},
        {"func": max},
        {"func": lambda a, b: a * b, "initial": 0.5},
    ),
    lambda do: [list(do(itertools.accumulate)([], **o)) for o in ({}, {"initial": 2.0})],
    lambda do: list(do(itertools.compress)(NUMBERS, [1, 0, 1, 1])),
    lambda do: [
        list(do(way)(is_positive, NUMBERS)) for way in (itertools.takewhile, itertools.dropwhile, itertools.filterfalse)
    ],
    lambda do: list(do(itertools.filterfalse)(None, [0.0, 1.0, 0.0])),
    lambda do: list(do(itertools.starmap)(pow, PAIRS)),
    lambda do: [list(do(itertools.pairwise)(items)) for items in (NUMBERS, [1.0], [])],
    lambda do: [
        list(do(itertools.islice)(NUMBERS, *bounds))
        for bounds in ((3,), (1, 4), (1, None, 2), (None, 5), (0, 5, 3), (4, 2), (0,), (None,), (1, 5, None))
    ],
    lambda do: [
        list(do(itertools.zip_longest)(NUMBERS, LETTERS)),
        list(do(itertools.zip_longest)(LETTERS, [1.0], fillvalue=0.0)),
    ],
    groups,
    lambda do: groups(do, key=abs),
    lambda do: list(do(itertools.groupby)([])),
    lambda do: [list(do(itertools.product)(NUMBERS[:2], LETTERS)), list(do(itertools.product)(NUMBERS[:2], repeat=3))],
    lambda do: [
        list(do(way)(NUMBERS[:4], r))
        for way in (itertools.combinations, itertools.combinations_with_replacement, itertools.permutations)
        for r in (1, 2, 3)
    ],
    lambda do: list(do(itertools.permutations)(NUMBERS[:3])),
    lambda do: [[list(one) for one in do(itertools.tee)(NUMBERS, *n)] for n in ((), (3,))],
    lambda do: [next_of(do(itertools.count)(*start)) for start in ((), (2,), (0.5, -1.5))],
    lambda do: [next_of(do(itertools.cycle)(NUMBERS[:2])), list(do(itertools.cycle)([]))],
    lambda do: [
        next_of(do(itertools.repeat)(2.0)),
        list(do(itertools.repeat)(2.0, 3)),
        list(do(itertools.repeat)(2.0, 0)),
    ],
    heaped,
    lambda do: [
        do(heapq.nlargest)(3, NUMBERS),
        do(heapq.nsmallest)(2, NUMBERS, key=abs),
        do(heapq.nlargest)(2, NUMBERS, key=abs),
        do(heapq.nsmallest)(9, NUMBERS),
    ],
    lambda do: [do(sorted)(NUMBERS), do(sorted)(NUMBERS, reverse=True), do(sorted)(NUMBERS, key=abs)],
    *each(inserted, *by("way", bisect.insort_left, bisect.insort_right)),
    lambda do: [inserted(do, way, 1, 3) for way in (bisect.insort_left, bisect.insort_right)],
]


def next_of(items: Any, count: int = 5) -> Any:
    return [item for item, _ in zip(items, range(count))]


# --- arrays of NumPy --------------------------------------------------------------------------------------------------


def broadcast(do: Any, *arrays: Any) -> Any:
    made = do(np.broadcast)(*arrays)
    return [made.shape, made.ndim, made.nd, made.numiter, made.size, list(made)]


STACK = RNG.normal(size=(2, 3, 3))
SYMMETRIC = STACK @ np.swapaxes(STACK, 1, 2) + np.eye(3)
DECOMPOSED: dict[str, tuple[Any, ...]] = {
    "solve": (STACK, RNG.normal(size=(2, 3, 2))),
    "solve1": (STACK, RNG.normal(size=(2, 3))),
    "inv": (STACK,),
    "det": (STACK,),
    "slogdet": (STACK,),
    "eigh_lo": (SYMMETRIC + np.triu(STACK, 1),),
    "eigh_up": (SYMMETRIC + np.tril(STACK, -1),),
    "eigvalsh_lo": (SYMMETRIC + np.triu(STACK, 1),),
    "eigvalsh_up": (SYMMETRIC + np.tril(STACK, -1),),
    "cholesky_lo": (SYMMETRIC + np.triu(STACK, 1),),
    "cholesky_up": (SYMMETRIC + np.tril(STACK, -1),),
    "svd": (STACK[:, :2],),
    "svd_s": (STACK[:, :2],),
    "svd_f": (STACK[:, :2],),
    "eig": (STACK,),
    "eigvals": (STACK,),
}
ARRAYS: list[Program] = [
    *each(
        lambda do, name: do(getattr(gufuncs, name))(*DECOMPOSED[name]),
        *by("name", *(name for name in DECOMPOSED if hasattr(gufuncs, name))),
    ),
    lambda do: broadcast(do, P, COV[:2]),
    lambda do: broadcast(do, P[:, None], 2.0, COV),
    lambda do: [do(np.fromiter)(iter(NUMBERS), float, *count) for count in ((), (3,), (-1,))],
    lambda do: do(np.lib.stride_tricks.as_strided)(np.arange(12.0), (3, 2), (24, 8)),
]

# --- what treats NaN and the axis first -------------------------------------------------------------------------------

LINE, LONGER, HOLED = RNG.normal(size=9), 0.4 + RNG.normal(size=12), np.append(A[:, 1], np.nan)
OVER_AXES = by("axis", 0, 1, -1, None)
OF_NAN = by("nan_policy", "propagate")
OF_TESTS: list[Any] = [
    (stats.skewtest, 24),
    (stats.kurtosistest, 24),
    (stats.normaltest, 24),
    (stats.jarque_bera, 9),
]


def parts_of(outcome: Any) -> Any:
    return [*outcome] if isinstance(outcome, tuple) else [outcome.statistic, outcome.pvalue]


BEHIND_AXES: list[Program] = [
    *[
        program
        for fn in (stats.circmean, stats.circstd, stats.circvar, stats.median_abs_deviation, stats.tmean, stats.kstat)
        for program in each(
            lambda do, fn=fn, **o: [do(fn)(A, **o), do(fn)(LINE), do(fn)(LINE, **OF_NAN[0]), do(fn)(HOLED)],
            *(OVER_AXES if fn is not stats.kstat else by("axis", None)),
        )
    ],
    lambda do: [do(fn)(A, high=high, low=-0.7) for fn in (stats.circmean, stats.circstd) for high in (0.3, 2.0, 9.0)],
    *each(lambda do, **o: do(stats.circstd)(A, **o), {"normalize": True}, {"normalize": True, "axis": 1}),
    *each(
        lambda do, **o: do(stats.median_abs_deviation)(A, **o), {"scale": "normal"}, {"scale": 0.3, "center": np.mean}
    ),
    lambda do: [
        do(stats.tmean)(A, (low, 0.9), inclusive)
        for low in (None, -0.3) for inclusive in ((True, True), (False, False))
    ],
    lambda do: [do(fn)(LINE, limit) for fn in (stats.tmin, stats.tmax) for limit in (None, 0.1, -0.4)],
    lambda do: [
        do(fn)(LINE, float(LINE[2]), inclusive=one) for fn in (stats.tmin, stats.tmax) for one in (True, False)
    ],
    lambda do: [do(stats.trim_mean)(LONGER, share) for share in (0.0, 0.1, 0.3, 0.49)],
    lambda do: [do(stats.kstat)(LONGER, n) for n in (1, 2, 3, 4)],
    lambda do: [do(stats.kstatvar)(LONGER, n) for n in (1, 2)],
    lambda do: [do(stats.differential_entropy)(LONGER, method=m) for m in ("vasicek", "van es", "ebrahimi", "correa")],
    lambda do: [do(stats.differential_entropy)(LONGER, base=2.0, window_length=n) for n in (1, 3, 5)],
    *[lambda do, fn=fn, n=n: parts_of(do(fn)(np.append(LONGER, LONGER**2)[:n])) for fn, n in OF_TESTS],
    *each(
        lambda do, **o: [
            parts_of(do(fn)(np.append(LINE, LONGER), **o)) for fn in (stats.skewtest, stats.kurtosistest)
        ],
        *SIDES,
    ),
    lambda do: [
        parts_of(do(fn)(LINE, LONGER, LINE**2)) for fn in (stats.bartlett, stats.f_oneway, stats.alexandergovern)
    ],
    lambda do: [do(stats.f_oneway)(LINE, LINE), do(stats.f_oneway)(LINE, [1.0])],
    *each(
        lambda do, **o: parts_of(do(stats.levene)(LINE, LONGER, **o)),
        *by("center", "mean", "median", "trimmed"),
        {"center": "trimmed", "proportiontocut": 0.2},
    ),
    *each(
        lambda do, method: parts_of(do(stats.ks_1samp)(LINE, stats.norm.cdf, method=method)),
        *by("method", "exact", "asymp", "approx"),
    ),
    lambda do: [do(fn)(2.5) for fn in (stats.median_abs_deviation, stats.tmean, stats.circmean)],
    lambda do: parts_of(do(stats.cramervonmises)(LINE, stats.norm.cdf)),
]

PROGRAMS = {
    "statistics": STATISTICS,
    "behind axes": BEHIND_AXES,
    "distributions": DISTRIBUTIONS,
    "draws": DRAWS,
    "iterating": ITERATING,
    "arrays": ARRAYS,
}
