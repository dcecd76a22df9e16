"""
The course of an epidemic
=========================

Cases of an illness are reported each day. Find how contagious it was before and after measures were taken, when they
worked, and what share of the infected were counted, with the uncertainty of each.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize

import s2s

# %%
# Susceptible, exposed, infectious and recovered people, four steps a day. Contacts fall smoothly from one rate to
# another. The parameters are an object, as they would be in a larger program.

PEOPLE, DAYS, SUBSTEPS = 50_000.0, 120, 4


class Epidemic:
    def __init__(self, log_before, log_after, change_day, log_seeds, logit_counted):
        self.before = np.exp(log_before)
        self.after = np.exp(log_after)
        self.change_day = change_day
        self.seeds = np.exp(log_seeds)
        self.counted = 1.0 / (1.0 + np.exp(-logit_counted))

    def contacts(self, day):
        return self.after + (self.before - self.after) / (1.0 + np.exp((day - self.change_day) / 2.0))

    def expected_cases(self, incubation=3.0, infectious=4.0):
        state = {"S": PEOPLE - self.seeds, "E": self.seeds, "I": 0.0, "R": 0.0}
        cases = np.zeros(DAYS)
        for day in range(DAYS):
            for part in range(SUBSTEPS):
                rate = self.contacts(day + part / SUBSTEPS)
                infected = rate * state["S"] * state["I"] / PEOPLE / SUBSTEPS
                ill = state["E"] / incubation / SUBSTEPS
                well = state["I"] / infectious / SUBSTEPS
                state["S"] -= infected
                state["E"] += infected - ill
                state["I"] += ill - well
                state["R"] += well
                cases[day] += self.counted * ill
        return cases


def deviance(theta, reported):
    """Negative log-likelihood of Poisson counts, but for a constant."""
    expected = Epidemic(*theta).expected_cases()
    return np.sum(expected - reported * np.log(expected))


# %%
# Cases from known parameters, and the fit.

names = ("log contacts before", "log contacts after", "day of the change", "log seeds", "logit share counted")
true = np.array([np.log(0.75), np.log(0.2), 42.0, np.log(10.0), -0.8])
rng = np.random.default_rng(2)
reported = rng.poisson(Epidemic(*true).expected_cases()).astype(float)

objective, hessian = s2s.value_and_grad(deviance), s2s.hessian(deviance)
guess = np.array([np.log(0.6), np.log(0.4), 50.0, np.log(20.0), 0.0])
found = optimize.minimize(objective, guess, args=(reported,), jac=True, hess=hessian, method="trust-exact")
spread = np.sqrt(np.diag(np.linalg.inv(hessian(found.x, reported))))
for name, t, f, s in zip(names, true, found.x, spread):
    print(f"{name:20} {f:8.3f} ± {s:.3f}   true {t:8.3f}")
    assert abs(f - t) < 3.0 * s

# %%
# The gradient at the guess against differences:

_, gradient = objective(guess, reported)
slopes = [(deviance(guess + d, reported) - deviance(guess - d, reported)) / 2e-5 for d in 1e-5 * np.eye(5)]
print("gradient   ", gradient)
print("differences", np.array(slopes))
assert np.allclose(gradient, slopes, rtol=1e-6)

# %%
# The object and the dict are gone from the adjoint: their entries are variables.

print(s2s.source(deviance, guess, reported, mode="grad"))

# %%
# Curves of parameters drawn from the normal distribution that the Hessian gives.

draws = rng.multivariate_normal(found.x, np.linalg.inv(hessian(found.x, reported)), 100)
days = np.arange(DAYS)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.bar(days, reported, color="0.8", width=1.0, label="reported")
left.plot(days, Epidemic(*guess).expected_cases(), "--", color="0.4", label="guess")
left.plot(days, Epidemic(*found.x).expected_cases(), color="crimson", label="fit")
left.set(xlabel="day", ylabel="cases", ylim=(0, 1.3 * reported.max()))
left.legend(frameon=False)
for theta in draws:
    right.plot(days, Epidemic(*theta).contacts(days) * 4.0, color="crimson", alpha=0.05)
right.plot(days, Epidemic(*true).contacts(days) * 4.0, color="black", label="true")
right.set(xlabel="day", ylabel="reproduction number", title="100 draws")
right.legend(frameon=False)
plt.show()
