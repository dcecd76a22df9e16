"""Smoothing of an image by recursive filters, forth and back along rows, then along columns (Deriche 1990)."""

import numpy as np

from benchmarks.case import Case, wave


def coefficients(alpha):
    """Of the filter: ``a1`` to ``a4``, ``b1`` and ``b2``."""
    a1 = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(-2.0 * alpha))
    a2 = a1 * np.exp(-alpha) * (alpha - 1.0)
    a3 = a1 * np.exp(-alpha) * (alpha + 1.0)
    return a1, a2, a3, -a1 * np.exp(-2.0 * alpha), 2.0 * np.exp(-alpha), -np.exp(-2.0 * alpha)


def deriche(image, alpha):
    """The smoothed image."""
    a1, a2, a3, a4, b1, b2 = coefficients(alpha)
    height, width = image.shape
    forth, back = np.empty_like(image), np.empty_like(image)
    forth[:, 0] = a1 * image[:, 0]
    forth[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * forth[:, 0]
    for j in range(2, width):
        forth[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    back[:, -1] = 0.0
    back[:, -2] = a3 * image[:, -1]
    for j in range(width - 3, -1, -1):
        back[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    out = forth + back
    forth[0, :] = a1 * out[0, :]
    forth[1, :] = a1 * out[1, :] + a2 * out[0, :] + b1 * forth[0, :]
    for i in range(2, height):
        forth[i, :] = a1 * out[i, :] + a2 * out[i - 1, :] + b1 * forth[i - 1, :] + b2 * forth[i - 2, :]
    back[-1, :] = 0.0
    back[-2, :] = a3 * out[-1, :]
    for i in range(height - 3, -1, -1):
        back[i, :] = a3 * out[i + 1, :] + a4 * out[i + 2, :] + b1 * back[i + 1, :] + b2 * back[i + 2, :]
    return forth + back


def deriche_loss(image, target, alpha):
    return np.sum((deriche(image, alpha) - target) ** 2)


def arguments(height, width):
    return wave(height, width), wave(height, width, phase=1.0), 0.25


def in_jax():
    import jax.numpy as jnp
    from jax import lax

    def smooth(lines, alpha):
        decay = jnp.exp(-alpha)
        a1 = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - decay**2)
        a2, a3, a4 = a1 * decay * (alpha - 1.0), a1 * decay * (alpha + 1.0), -a1 * decay**2
        b1, b2 = 2.0 * decay, -(decay**2)

        def filtered(before, now, reverse):
            def step(state, pair):
                last, other = state
                new = before * pair[0] + now * pair[1] + b1 * last + b2 * other
                return (new, last), new

            zeros = jnp.zeros_like(lines[0])
            padded = jnp.concatenate((zeros[None], lines)) if not reverse else jnp.concatenate(
                (lines, zeros[None], zeros[None]))
            pairs = (padded[1:], padded[:-1]) if not reverse else (padded[1:-1], padded[2:])
            return lax.scan(step, (zeros, zeros), pairs, reverse=reverse)[1]

        return filtered(a1, a2, False) + filtered(a3, a4, True)

    def loss(image, target, alpha):
        return jnp.sum((smooth(smooth(image.T, alpha).T, alpha) - target) ** 2)

    return loss


def smoothed(lines, alpha):
    """All lines of the first axis filtered forth and back; what is beyond the ends is zero."""
    a1, a2, a3, a4, b1, b2 = coefficients(alpha)
    forth, back = np.zeros_like(lines), np.zeros_like(lines)
    forth[0] = a1 * lines[0]
    forth[1] = a1 * lines[1] + a2 * lines[0] + b1 * forth[0]
    for j in range(2, len(lines)):
        forth[j] = a1 * lines[j] + a2 * lines[j - 1] + b1 * forth[j - 1] + b2 * forth[j - 2]
    back[-2] = a3 * lines[-1]
    for j in range(len(lines) - 3, -1, -1):
        back[j] = a3 * lines[j + 1] + a4 * lines[j + 2] + b1 * back[j + 1] + b2 * back[j + 2]
    return forth + back


def smoothed_back(bars, alpha):
    """The adjoint: each filter the other way round."""
    a1, a2, a3, a4, b1, b2 = coefficients(alpha)
    n = len(bars)
    forth, back = bars.copy(), bars.copy()
    forth[n - 2] += b1 * forth[n - 1]
    back[1] += b1 * back[0]
    for j in range(2, n):
        forth[n - 1 - j] += b1 * forth[n - j] + b2 * forth[n - j + 1]
        back[j] += b1 * back[j - 1] + b2 * back[j - 2]
    out = a1 * forth
    out[:-1] += a2 * forth[1:]
    out[1:] += a3 * back[:-1]
    out[2:] += a4 * back[:-2]
    return out


def by_hand(image, target, alpha):
    """Linear in the image: nothing is kept."""
    out = smoothed(np.ascontiguousarray(smoothed(np.ascontiguousarray(image.T), alpha).T), alpha)
    bar = smoothed_back(2.0 * (out - target), alpha)
    return (smoothed_back(np.ascontiguousarray(bar.T), alpha).T,)


def by_hand_in_loops(image, target, alpha):
    decay = np.exp(-alpha)
    a1 = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - decay * decay)
    a2, a3, a4 = a1 * decay * (alpha - 1.0), a1 * decay * (alpha + 1.0), -a1 * decay * decay
    b1, b2 = 2.0 * decay, -decay * decay
    height, width = image.shape
    out, bar = np.empty_like(image), np.zeros_like(image)
    for i in range(height):
        x1 = y1 = y2 = 0.0
        for j in range(width):
            y = a1 * image[i, j] + a2 * x1 + b1 * y1 + b2 * y2
            x1, y2, y1 = image[i, j], y1, y
            out[i, j] = y
        x1 = x2 = y1 = y2 = 0.0
        for j in range(width - 1, -1, -1):
            y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            x2, x1, y2, y1 = x1, image[i, j], y1, y
            out[i, j] += y
    forth, back = np.zeros((height + 2, width)), np.zeros((height + 2, width))
    for j in range(width):
        forth[2, j] = a1 * out[0, j]
    for i in range(1, height):
        for j in range(width):
            forth[i + 2, j] = a1 * out[i, j] + a2 * out[i - 1, j] + b1 * forth[i + 1, j] + b2 * forth[i, j]
    for j in range(width):
        back[height - 2, j] = a3 * out[height - 1, j]
    for i in range(height - 3, -1, -1):
        for j in range(width):
            back[i, j] = a3 * out[i + 1, j] + a4 * out[i + 2, j] + b1 * back[i + 1, j] + b2 * back[i + 2, j]
    for i in range(height):
        for j in range(width):
            out[i, j] = 2.0 * (forth[i + 2, j] + back[i, j] - target[i, j])
    forth[:], back[:] = 0.0, 0.0
    for i in range(height - 1, -1, -1):
        for j in range(width):
            forth[i, j] = out[i, j] + b1 * forth[i + 1, j] + b2 * forth[i + 2, j]
            bar[i, j] = a1 * forth[i, j] + a2 * forth[i + 1, j]
    for i in range(height):
        for j in range(width):
            bar[i, j] += a3 * back[i + 1, j] + a4 * back[i, j]
            back[i + 2, j] = out[i, j] + b1 * back[i + 1, j] + b2 * back[i, j]
    for i in range(height):
        g1 = g2 = 0.0
        for j in range(width - 1, -1, -1):
            g = bar[i, j] + b1 * g1 + b2 * g2
            out[i, j] = a1 * g + a2 * g1
            g2, g1 = g1, g
        g1 = g2 = 0.0
        for j in range(width):
            out[i, j] += a3 * g1 + a4 * g2
            g2, g1 = g1, bar[i, j] + b1 * g1 + b2 * g2
    return (out,)


CASE = Case("deriche", deriche_loss, (0,), arguments, small=(5, 6), large=(220, 160), jax=in_jax, hand_numpy=by_hand,
            hand_numba=by_hand_in_loops)  # fmt: skip
