"""The math module: on Python floats, on NumPy scalars, on elements of arrays."""

import math
from math import exp, pi, sqrt

import numpy as np

from tests.bank.registry import P5, V3, V5, case


@case(0.7)
def exponentials(x):
    return math.exp(x) + math.expm1(x) + math.pow(x, 3.0) + math.exp2(x)


@case(0.7)
def logarithms(x):
    return math.log(x) + math.log1p(x) * math.log2(x) + math.log10(x) + math.log(x, 3.0)


@case(0.7)
def trigonometry(x):
    return math.sin(x) * math.cos(x) + math.tan(x) + math.asin(x) * math.acos(x) + math.atan(x)


@case(0.35)
def hyperbolic(x):
    return math.sinh(x) * math.cosh(x) + math.tanh(x) + math.asinh(x) + math.atanh(x) + math.acosh(2.0 + x)


@case(0.7, 1.9)
def functions_of_two(x, y):
    return math.atan2(x, y) + math.hypot(x, y) + math.copysign(x, -y) + math.pow(y, x)


@case(0.7)
def roots(x):
    return math.sqrt(x) + math.cbrt(x) + math.fabs(-x) * x


@case(0.7)
def error_functions(x):
    return math.erf(x) * x + math.erfc(2.0 * x)


@case(2.7)
def gamma_functions(x):
    return math.lgamma(x) * x + math.gamma(x)


@case(40.0)
def angles(x):
    return math.sin(math.radians(x)) + math.degrees(x) * 0.01


@case(0.7)
def imported_by_name(x):
    return exp(-(x**2)) / sqrt(2.0 * pi)


@case(0.7)
def constants(x):
    return math.pi * x**2 + math.e * x + math.tau * 0.0 + (math.inf > x) * x


@case(V5)
def fsum_of_list(v):
    return math.fsum([x * x for x in v]) + math.prod([x + 3.0 for x in v])


@case(P5)
def on_elements(p):
    total = 0.0
    for x in p:
        total += math.log(x) * math.sqrt(x)
    return total


@case(V3)
def mixed_with_numpy(v):
    return math.sin(np.sum(v)) + math.exp(v[0]) * np.cos(v[1])


@case(1.3)
def predicates(x):
    if math.isnan(x) or math.isinf(x) or not math.isfinite(x) or math.isclose(x, 0.0):
        return 0.0
    return x * x


@case(5.2, 3)
def passive_functions(x, n):
    return x * math.factorial(n) + x * x * math.comb(5, n) + math.gcd(12, n) * x


@case((1.0, 2.0), (4.0, 6.5))
def distance(p, q):
    return math.dist(p, q) ** 2


@case(7.3, 2.1)
def remainders(x, y):
    return math.fmod(x, y) * x


@case(100.0, 95.0, 0.2, 0.03, 1.5)
def black_scholes(spot, strike, sigma, rate, expiry):
    def cdf(z):
        return 0.5 * (1.0 + math.erf(z / math.sqrt(2.0)))

    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * expiry) / (sigma * math.sqrt(expiry))
    d2 = d1 - sigma * math.sqrt(expiry)
    return spot * cdf(d1) - strike * math.exp(-rate * expiry) * cdf(d2)
