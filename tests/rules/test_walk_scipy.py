"""Every public function of SciPy's modules has a rule or a model, is differentiated as its source (with a sample here),
or stands here with the reason why not."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from typing import Any

import numpy as np
import pytest
import scipy

import s2s
from s2s.errors import DifferentiationError
from s2s.rules import table
from tests.helpers import has_newer_scipy

table.extend()

MODULES = (
    "linalg", "signal", "ndimage", "integrate", "interpolate", "stats", "fft", "spatial.distance", "optimize",
)

AS_SOURCE = {
    "linalg": """companion(x) | convolution_matrix(x, 3) | diagsvd(x[:2], 2, 3) | fiedler_companion(x)
        | expm_cond(m[:3, :3])""",
    "signal": """np.abs(freqs(x[:3], y[:3], [0.1, 1.0])[1]) | np.abs(freqz_zpk(x[:2], y[:2] / 3.0, 1.0)[1])
        | np.abs(freqs_zpk(x[:2], -y[:2], 1.0, [0.3, 2.0])[1])
        | envelope(x)[0] | savgol_coeffs(5, 2) * x[:5] | gausspulse(x) | chirp(x, y[0], 1.0, y[1]) | sawtooth(x, 0.6)
        | square(x) * x | sweep_poly(x, y[:3]) | unit_impulse(6) * x | get_window("hann", 6) * x
        | zpk2tf(x[:2], y[:2], x[3])[0] | sos2tf(np.array([[1.0, 0.4, 0.1, 1.0, -0.3, 0.2]]) * x)[0]
        | bilinear_zpk(x[:2], y[:2], 1.0, x[4])[0] | iirnotch(x[0] / 3.0, 10.0)[0] | iirpeak(x[0] / 3.0, 10.0)[0]
        | firwin2(9, [0.0, x[0] / 3.0, 1.0], [1.0, y[0], 0.0]) | firls(5, [0.0, 0.3, 0.5, 1.0], x[:4])
        | minimum_phase(np.array([0.1, 0.2, 0.3, 0.2, 0.1]) * x[0]) | kaiser_beta(x[0] * 30.0)
        | cont2discrete((m[:2, :2], m[:2, :1], m[:1, :2], m[:1, :1]), x[0])[0] | vectorstrength(x, 2.0)[0]
        | correlation_lags(5, 6) * x[0] | gauss_spline(x, 3) | max_len_seq(3)[0][0] * x[0]
        | closest_STFT_dual_window(x, 2)[0] | lp2lp_zpk(x[:2], y[:2], x[2], x[3])[2]
        | lp2hp_zpk(x[:2], y[:2], x[2], x[3])[1] | np.abs(tf2zpk(x[:2], y[:3])[1]) | tf2zpk(x[:3], y[:2])[2]
        | tf2ss(x[:2], y[:3])[0] | lp2lp(x[:2], y[:3], x[3])[1] | lp2bp(x[:2], y[:3], x[3], x[4])[0]
        | lp2bs(x[:2], y[:3], x[3], x[4])[1]""",
    "integrate": "fixed_quad(lambda t: np.sin(t * x[0]), 0.0, 1.0)[0] | romb(x[:5], 0.2) | trapezoid(x, y)",
    "interpolate": """KroghInterpolator(PLACES, x)(0.7) | krogh_interpolate(PLACES, x, 0.7)
        | pchip_interpolate(PLACES, x, 0.7) | lagrange(PLACES[:4], x[:4])(0.7) | pade(x[:5], 2)[0](0.3)
        | pade(x[:5], 2)[1](0.3) | approximate_taylor_polynomial(lambda t: np.sin(t * x[0]), 0.1, 3, 1.0)(0.4)""",
    "stats": """describe(x).variance | gzscore(x) ** 3 | sigmaclip(x, 2.0, 2.0)[0] | trim1(x + 0.0, 0.2)
        | trimboth(x + 0.0, 0.2) | trim_mean(x + 0.0, 0.2) | median_abs_deviation(x)
        | scoreatpercentile(x, 30) | boxcox(x, 0.4) | yeojohnson(x, 0.4) | boxcox_llf(x[0], y)
        | yeojohnson_llf(0.4, x) | ttest_ind_from_stats(x[0], x[1], 5, y[0], y[1], 7)[0]
        | obrientransform(x, y)[0] | energy_distance(x, y)
        | wasserstein_distance(x, y) | directional_stats(m).mean_resultant_length""",
    "spatial.distance": """euclidean(x, y) | sqeuclidean(x, y) | braycurtis(x, y) | canberra(x, y) | chebyshev(x, y)
        | cityblock(x, y) | correlation(x, y) | cosine(x, y) | jensenshannon(x, y) | minkowski(x, y, 3)
        | mahalanobis(x[:2], y[:2], np.diag(x[:2])) | seuclidean(x, y, x)""",
    "optimize": "rosen(x) | rosen_der(x) | rosen_hess(x) | rosen_hess_prod(x, y)",
}
"""What is differentiated as SciPy has it, of vectors ``x`` and ``y`` and a matrix ``m``."""

WITHOUT = {
    "of whole numbers, or of no numbers": """dft hadamard helmert hilbert invhilbert invpascal pascal lebedev_rule
        newton_cotes check_COLA check_NOLA choose_conv_method czt_points findfreqs kaiser_atten get_blas_funcs
        get_lapack_funcs get_workers set_workers register_backend set_backend set_global_backend skip_backend
        show_options linprog_verbose_callback""",
    "warnings, errors, options and results": """LinAlgError LinAlgWarning BadCoefficients IntegrationWarning
        ODEintWarning DenseOutput OdeSolution OdeSolver OptimizeResult OptimizeWarning RootResults NoConvergence Bounds
        LinearConstraint NonlinearConstraint BootstrapMethod MonteCarloMethod PermutationMethod CensoredData
        ConstantInputWarning DegenerateDataWarning FitError NearConstantInputWarning""",
    "of a function of complex numbers, recorded (``test_schur``)": "funm",
    "distances of flags, by their weights (``test_weights_of_flags``)": """dice hamming jaccard kulczynski1
        rogerstanimoto russellrao sokalmichener sokalsneath yule""",
    "parts of optimizers": """BFGS SR1 BroydenFirst HessianUpdateStrategy InverseJacobian KrylovJacobian
        LbfgsInvHessProduct""",
    "base classes, and classes whose methods have rules": """BivariateSpline interp2d Covariance rv_continuous
        rv_discrete rv_histogram gaussian_kde""",
    "deprecated in an older SciPy": "kron find_repeats",
    "draws at random": "clarkson_woodruff_transform",
    "goes by the other forms of a filter": "group_delay lfiltic lp2bp_zpk lp2bs_zpk",
    "refuses by what it calls": "kstest",
    "recorded, in SciPy since 1.18 (``test_what_newer_scipy_has_is_recorded``)": "whittaker_henderson estimated_cdf",
    "functions of the new random variables": "abs exp log",
}
"""Names without a rule of their own, by reason."""

REFUSED_BEFORE = {"firwin2": "1.17", "lp2bp": "1.17", "lp2bs": "1.17", "rosen_der": "1.17"}
"""Functions whose source in an older SciPy, before a version, is refused."""

PLACES = np.array([0.1, 0.5, 0.9, 1.4, 2.0, 2.6])
X = np.array([0.9, 1.3, 0.5, 1.8, 1.1, 0.7])
Y = np.array([1.2, 0.4, 1.6, 0.8, 1.45, 1.9])
M = np.array([[0.5, 1.2, 0.7, 1.9], [1.4, 0.3, 1.1, 0.6], [0.8, 1.7, 0.9, 1.5]])


def expressions(name: str) -> list[str]:
    return [" ".join(e.split()) for e in AS_SOURCE.get(name, "").split("|") if e.strip()]


def listed() -> set[str]:
    return {name for names in WITHOUT.values() for name in names.split()}


def is_distribution(value: Any) -> bool:
    """Whether it is one of the distributions, whose methods have the rules."""
    return any(base.__name__ in ("rv_generic", "multi_rv_generic") for base in type(value).__mro__)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_is_covered_shown_or_listed(name: str) -> None:
    module = importlib.import_module(f"scipy.{name}")
    members = {n: getattr(module, n) for n in module.__all__ if callable(getattr(module, n, None))}
    rest = {n for n, fn in members.items() if table.find(fn) is None and not is_distribution(fn)}
    shown = set(re.findall(r"\w+(?=\()", " ".join(expressions(name))))
    assert not rest - shown - listed()


def test_what_is_refused_has_a_reason() -> None:
    for name in MODULES:
        module = importlib.import_module(f"scipy.{name}")
        for n in module.__all__:
            rule = table.find(getattr(module, n, None))
            assert rule is None or rule.kind != "refuse" or len(rule.reason) > 10, n


def is_refused(expression: str) -> bool:
    """Whether the installed SciPy is too old for an expression."""
    before = REFUSED_BEFORE.get(expression.split("(")[0], "0")
    return version(scipy.__version__) < version(before)


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def program_of(name: str, k: int, expression: str, folder: Any) -> Any:
    """The function that sums what an expression of a module of SciPy gives, from a file of its own."""
    head = ["import numpy as np", f"from scipy.{name} import *", "import numpy as np", "", ""]
    file = folder / f"program{k}.py"
    file.write_text("\n".join([*head, "def f(x, y, m):", f"    return np.sum({expression})", ""]), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"program{k}", file)
    assert spec is not None and spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    vars(program)["PLACES"] = PLACES
    assert inspect.isfunction(program.f)
    return program.f


@pytest.mark.slow
@pytest.mark.grid(0.3)
@pytest.mark.parametrize("name", AS_SOURCE)
def test_what_is_differentiated_as_source(name: str, tmp_path: Any) -> None:
    """Each expression, against differences along a direction."""
    module = importlib.import_module(f"scipy.{name}")
    known = [e for e in expressions(name) if hasattr(module, e.split("(")[0]) or e.startswith("np.abs(")]
    rng, h = np.random.default_rng(3), 1e-4
    directions = [rng.normal(size=np.shape(a)) for a in (X, Y, M)]
    for k, expression in enumerate(known):
        f = program_of(name, k, expression, tmp_path)
        derivative = s2s.value_and_grad(f, argnums=(0, 1, 2))
        if is_refused(expression):
            with pytest.raises(DifferentiationError):
                derivative(X, Y, M)
            continue

        def at(t: float) -> float:
            return float(f(*[a + t * d for a, d in zip((X, Y, M), directions)]))

        expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        value, gradients = derivative(X, Y, M)
        assert value == pytest.approx(at(0.0), rel=1e-10), expression
        found = sum(np.sum(g * d) for g, d in zip(gradients, directions))
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), expression


@pytest.mark.skipif(not has_newer_scipy(), reason="SciPy before 1.18 has none of these")
@pytest.mark.filterwarnings("ignore::s2s.RecordedWarning")
@pytest.mark.parametrize(("name", "expression"), [
    ("signal", "whittaker_henderson(x, lamb=2.0).x ** 2"), ("stats", "estimated_cdf(x, y[:2]) ** 2"),
])  # fmt: skip
def test_what_newer_scipy_has_is_recorded(
    name: str, expression: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S2S_RECORDED", "1")
    f = program_of(name, 0, expression, tmp_path)
    value, gradients = s2s.value_and_grad(f, argnums=(0, 1))(X, Y, M)
    assert value == pytest.approx(f(X, Y, M))
    for k, found in enumerate(gradients):
        for i, h in enumerate(1e-5 * np.eye(6)):
            there, back = ([a + s * h * (j == k) for j, a in enumerate((X, Y))] for s in (1, -1))
            assert found[i] == pytest.approx((f(*there, M) - f(*back, M)) / 2e-5, rel=1e-6, abs=1e-8)
