"""Functions of SciPy, scikit-learn and statsmodels that s2s takes, with arguments: ``functions()``.

``python -m tests.fuzz.metamorphic.packages`` tries the functions of ``MODULES`` and prints the table. A function is in
it if it runs with some arguments of ``ARGUMENTS``, gives floats, and s2s gives a derivative of it. Those that are not
installed are left out.
"""

import importlib
import inspect
import multiprocessing
import sys
import types
import warnings

import numpy as np

from tests.helpers import copy_tree, float_leaves, leaves, random_cotangent

VECTOR = np.array([0.7, 1.9, 0.4, 1.3, 2.2])
OTHER = np.array([1.1, 0.3, 2.4, 0.8, 1.6])
MATRIX = np.array([[0.9, 0.3, 1.4], [0.2, 1.7, 0.6], [1.1, 0.5, 2.3], [0.4, 1.2, 0.8]])
SECOND = np.array([[0.5, 1.3, 0.2], [1.6, 0.4, 0.9], [0.3, 2.1, 1.2], [1.4, 0.7, 0.6]])
SQUARE = np.array([[2.1, 0.3, 0.4], [0.2, 1.8, 0.1], [0.5, 0.6, 2.6]])

ARGUMENTS = {
    "x": (VECTOR,),
    "xy": (VECTOR, OTHER),
    "M": (MATRIX,),
    "MN": (MATRIX, SECOND),
    "S": (SQUARE,),
    "a": (1.3,),
    "ab": (1.3, 0.6),
    "xa": (VECTOR, 1.3),
    "abc": (1.3, 0.6, 2.1),
    "xab": (VECTOR, 1.3, 0.6),
    "Sx": (SQUARE, VECTOR[:3]),
    "Mx": (MATRIX, VECTOR[:4]),
    "xx2": (VECTOR, 2),
    "xS": (VECTOR[:3], SQUARE),
    "xyx": (VECTOR, OTHER, VECTOR[::-1].copy()),
    "abcd": (1.3, 0.6, 2.1, 0.9),
}

MODULES = (
    "scipy.optimize._optimize", "scipy.optimize._numdiff", "scipy.optimize._lsq.common", "scipy.optimize._zeros_py",
    "scipy.spatial.distance", "scipy.stats._stats_py", "scipy.stats._mstats_basic", "scipy.stats._morestats",
    "scipy.stats._variation", "scipy.stats._entropy", "scipy.stats._correlation", "scipy.stats._sensitivity_analysis",
    "scipy.special._basic", "scipy.special._logsumexp", "scipy.special._orthogonal", "scipy.special._spfun_stats",
    "scipy.signal._signaltools", "scipy.signal._waveforms", "scipy.signal._filter_design", "scipy.signal._wavelets",
    "scipy.signal._savitzky_golay", "scipy.signal.windows._windows", "scipy.signal._lti_conversion",
    "scipy.linalg._misc", "scipy.linalg._special_matrices", "scipy.linalg._basic", "scipy.linalg._matfuncs",
    "scipy.integrate._quadrature", "scipy.integrate._ivp.common", "scipy.interpolate._interpolate",
    "scipy.interpolate._cubic", "scipy.interpolate._polyint", "scipy.interpolate._pade", "scipy.fft._basic",
    "scipy._lib._util", "scipy.stats._continuous_distns", "scipy.stats._distn_infrastructure",
    "sklearn.metrics._regression", "sklearn.metrics.pairwise", "sklearn.metrics._classification",
    "sklearn.utils.extmath", "sklearn.preprocessing._data", "sklearn.covariance._shrunk_covariance",
    "sklearn.gaussian_process.kernels", "sklearn.neural_network._base", "sklearn.decomposition._nmf",
    "sklearn.mixture._gaussian_mixture", "sklearn.linear_model._ridge",
    "statsmodels.tools.eval_measures", "statsmodels.tools.tools", "statsmodels.robust.scale",
    "statsmodels.robust.norms", "statsmodels.tsa.tsatools", "statsmodels.tsa.stattools",
    "statsmodels.stats.moment_helpers",
    "statsmodels.stats.correlation_tools", "statsmodels.stats.weightstats", "statsmodels.nonparametric.kernels",
    "statsmodels.nonparametric.bandwidths", "statsmodels.regression.linear_model", "statsmodels.stats.stattools",
    "statsmodels.sandbox.stats.runs", "statsmodels.stats.effect_size", "statsmodels.tsa.innovations.arma_innovations",
    "statsmodels.distributions.copula.transforms", "statsmodels.tsa.filters.hp_filter",
    "numpy.lib._function_base_impl", "numpy.lib._nanfunctions_impl", "numpy.lib._arraysetops_impl",
    "numpy.lib._shape_base_impl", "numpy.lib._twodim_base_impl", "numpy.lib._polynomial_impl",
    "numpy.polynomial.polynomial", "numpy.polynomial.chebyshev", "numpy.polynomial.legendre", "numpy._core.numeric",
)  # fmt: skip

# Function -> which arguments.
TABLE: dict[str, str] = {
    "scipy.optimize._optimize:_check_clip_x": "xy",
    "scipy.optimize._optimize:rosen": "x",
    "scipy.optimize._optimize:rosen_der": "x",
    "scipy.optimize._optimize:rosen_hess": "x",
    "scipy.optimize._optimize:rosen_hess_prod": "xy",
    "scipy.optimize._optimize:vecnorm": "x",
    "scipy.optimize._lsq.common:build_quadratic_1d": "xab",
    "scipy.optimize._lsq.common:compute_grad": "xy",
    "scipy.optimize._lsq.common:compute_jac_scale": "xy",
    "scipy.optimize._lsq.common:evaluate_quadratic": "xyx",
    "scipy.optimize._lsq.common:intersect_trust_region": "abc",
    "scipy.optimize._lsq.common:left_multiply": "Sx",
    "scipy.optimize._lsq.common:minimize_quadratic_1d": "abcd",
    "scipy.optimize._lsq.common:right_multiply": "xy",
    "scipy.optimize._zeros_py:_compute_divided_differences": "xy",
    "scipy.optimize._zeros_py:_secant": "xy",
    "scipy.spatial.distance:_copy_array_if_base_present": "x",
    "scipy.spatial.distance:_nbool_correspond_all": "xy",
    "scipy.spatial.distance:_nbool_correspond_ft_tf": "xy",
    "scipy.spatial.distance:_validate_mahalanobis_kwargs": "xab",
    "scipy.spatial.distance:_validate_seuclidean_kwargs": "xab",
    "scipy.spatial.distance:_validate_vector": "x",
    "scipy.spatial.distance:_validate_weights": "x",
    "scipy.spatial.distance:canberra": "xy",
    "scipy.spatial.distance:chebyshev": "xy",
    "scipy.stats._morestats:_circfuncs_common": "xy",
    "scipy.stats._morestats:circmean": "x",
    "scipy.stats._variation:variation": "x",
    "scipy.stats._entropy:differential_entropy": "x",
    "scipy.stats._sensitivity_analysis:sample_AB": "MN",
    "scipy.special._basic:_factorialx_approx_core": "abc",
    "sklearn.utils.extmath:_deterministic_vector_sign_flip": "M",
    "sklearn.utils.extmath:_nanaverage": "x",
    "sklearn.utils.extmath:make_nonnegative": "x",
    "sklearn.utils.extmath:row_norms": "M",
    "sklearn.utils.extmath:safe_sparse_dot": "xy",
}


def functions():
    """``(name, function, arguments)`` of each that is installed."""
    found = []
    for name, key in TABLE.items():
        f = located(name)
        if f is not None:
            found.append((name, f, ARGUMENTS[key]))
    return found


def located(name):
    """The function of a name ``module:function`` without its decorators, None where it is not installed."""
    module, _, attribute = name.partition(":")
    try:
        return inspect.unwrap(getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError):
        return None


def tried(f):
    """The key of the arguments with which a function runs and s2s gives a derivative, else None."""
    import s2s

    for key, args in ARGUMENTS.items():
        try:
            value = f(*copy_tree(args))
        except Exception:
            continue
        floats = float_leaves(value)
        if not floats or not all(np.all(np.isfinite(leaf)) for leaf in floats) or len(floats) != len(leaves(value)):
            continue
        try:
            _, pullback = s2s.vjp(f, *args)
            pulled = float_leaves(pullback(random_cotangent(value)))
        except Exception:
            return None
        return key if any(np.any(leaf) for leaf in pulled) else None
    return None


def candidates(wanted):
    """The functions of the modules that have a text of their own; ``wanted`` are beginnings of names of modules."""
    from tests.fuzz.metamorphic.subjects import subject_of

    for module in MODULES:
        if wanted and not module.startswith(tuple(wanted)):
            continue
        try:
            held = vars(importlib.import_module(module))
        except ImportError:
            continue
        for attribute, item in sorted(held.items()):
            f = inspect.unwrap(item) if callable(item) else None
            if isinstance(f, types.FunctionType) and f.__module__ == module and subject_of("", f, (1.0,)):
                yield f"{module}:{attribute}", f


def report(name, f):
    """Print the row of a function, if it has one."""
    from tests.fuzz.check import Slow, time_limit

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    try:
        with time_limit(8):
            key = tried(f)
    except Slow:
        return
    if key:
        print(f'    "{name}": "{key}",', flush=True)


def main():
    """Each function in a process of its own: some do not survive arguments that they do not expect."""
    context = multiprocessing.get_context("fork")
    for name, f in candidates(sys.argv[1:]):
        process = context.Process(target=report, args=(name, f))
        process.start()
        process.join(12)
        if process.is_alive():
            process.kill()


if __name__ == "__main__":
    main()
