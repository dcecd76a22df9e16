"""
Deblurring a photograph
=======================

A photograph was blurred by a moving camera, and the sensor added noise. Find the picture that fits it when it is
blurred again, and that has few edges (total variation).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize, signal
from sklearn.datasets import load_sample_image

import s2s

# %%
# The misfit and the total variation, whose corner at flat places is rounded off.


def variation(image):
    down = image[1:, :-1] - image[:-1, :-1]
    right = image[:-1, 1:] - image[:-1, :-1]
    return np.sum(np.sqrt(down**2 + right**2 + 1e-4))


def objective(image, blurred, kernel, weight):
    residual = signal.fftconvolve(image, kernel, mode="same") - blurred
    return 0.5 * np.sum(residual**2) + weight * variation(image)


# %%
# A part of a picture that scikit-learn comes with, blurred along a slanted line of 13 pixels.

photograph = load_sample_image("china.jpg").mean(axis=2)[100:292, 210:402] / 255.0
kernel = np.zeros((13, 13))
for i in range(13):
    kernel[i, round(3 + i * 0.5)] = 1.0 / 13.0
rng = np.random.default_rng(0)
blurred = signal.fftconvolve(photograph, kernel, mode="same")
blurred += 0.005 * rng.normal(size=blurred.shape)

# %%
# The gradient has as many elements as the picture has pixels. Without the total variation it is known: the residual,
# correlated with the kernel.

gradient = s2s.grad(objective)(blurred, blurred, kernel, 0.0)
residual = signal.fftconvolve(blurred, kernel, mode="same") - blurred
expected = signal.fftconvolve(residual, kernel[::-1, ::-1], mode="same")
print(f"largest difference to the adjoint of the blur: {np.max(np.abs(gradient - expected)):.1e}")
assert np.allclose(gradient, expected, atol=1e-12)

direction = rng.normal(size=blurred.shape)
ahead, behind = (objective(blurred + h * direction, blurred, kernel, 1e-3) for h in (1e-6, -1e-6))
slope = np.sum(s2s.grad(objective)(blurred, blurred, kernel, 1e-3) * direction)
print(f"slope along a direction: {slope:.6f}, by differences {(ahead - behind) / 2e-6:.6f}")
assert abs(slope / (ahead - behind) * 2e-6 - 1.0) < 1e-5

# %%
# SciPy's optimizers take vectors, so the picture is flattened for them.

value_and_grad = s2s.value_and_grad(objective)


def flat(pixels):
    value, gradient = value_and_grad(pixels.reshape(blurred.shape), blurred, kernel, 2e-4)
    return value, gradient.ravel()


found = optimize.minimize(flat, blurred.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 100})
sharp = found.x.reshape(blurred.shape)


def quality(image):
    """Peak signal-to-noise ratio, without the rim, where the blur took in the black around the picture."""
    inner = np.s_[16:-16, 16:-16]
    return -10.0 * np.log10(np.mean((image[inner] - photograph[inner]) ** 2))


print(f"{found.nfev} gradients: {quality(blurred):.1f} dB -> {quality(sharp):.1f} dB")
assert quality(sharp) > quality(blurred) + 5.0

# %%

figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for axis, title, image in zip(axes, ("blurred", "found", "the photograph"), (blurred, sharp, photograph)):
    axis.imshow(image, cmap="gray", vmin=0.0, vmax=1.0)
    axis.set_title(title)
    axis.axis("off")
plt.show()
