"""Layers of networks in arrays: softmax, layers of neurons, attention, convolutions with pooling, a residual block."""

import numpy as np

from benchmarks.case import Case, wave


def softmax(x):
    """Over the last axis."""
    raised = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return raised / np.sum(raised, axis=-1, keepdims=True)


def softmax_loss(x, w):
    return np.sum(w * softmax(x))


def softmax_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(x, w):
        return jnp.sum(w * jax.nn.softmax(x, axis=-1))

    return loss


def softmax_in_torch():
    import torch

    def loss(x, w):
        return torch.sum(w * torch.softmax(x, dim=-1))

    return loss


def softmax_in_autograd():
    import autograd.numpy as anp

    def loss(x, w):
        raised = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
        return anp.sum(w * raised / anp.sum(raised, axis=-1, keepdims=True))

    return loss


def softmax_by_hand(x, w):
    out = softmax(x)
    return (out * (w - np.sum(w * out, axis=-1, keepdims=True)),)


def softmax_by_hand_in_loops(x, w):
    size = x.shape[-1]
    x_bar = np.empty_like(x)
    rows, weights, bars = x.reshape(-1, size), w.reshape(-1, size), x_bar.reshape(-1, size)
    for i in range(len(rows)):
        most = rows[i, 0]
        for j in range(1, size):
            most = max(most, rows[i, j])
        total = mean = 0.0
        for j in range(size):
            bars[i, j] = np.exp(rows[i, j] - most)
            total += bars[i, j]
            mean += weights[i, j] * bars[i, j]
        mean /= total
        for j in range(size):
            bars[i, j] *= (weights[i, j] - mean) / total
    return (x_bar,)


def relu(x):
    return np.maximum(x, 0.0)


def mlp(x, w1, b1, w2, b2, w3, b3):
    """Three layers, the last one with a softmax."""
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def mlp_loss(x, w1, b1, w2, b2, w3, b3):
    return np.sum(mlp(x, w1, b1, w2, b2, w3, b3) ** 2)


def mlp_arguments(n, *sizes):
    layers = []
    for k in range(3):
        layers += [wave(sizes[k], sizes[k + 1], phase=float(k)) / sizes[k] ** 0.5, 0.1 * wave(sizes[k + 1])]
    return wave(n, sizes[0]), *layers


def mlp_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(x, w1, b1, w2, b2, w3, b3):
        x = jax.nn.relu(x @ w1 + b1)
        x = jax.nn.relu(x @ w2 + b2)
        return jnp.sum(jax.nn.softmax(x @ w3 + b3) ** 2)

    return loss


def mlp_in_torch():
    import torch

    def loss(x, w1, b1, w2, b2, w3, b3):
        x = torch.relu(x @ w1 + b1)
        x = torch.relu(x @ w2 + b2)
        return torch.sum(torch.softmax(x @ w3 + b3, dim=-1) ** 2)

    return loss


def mlp_by_hand(x, w1, b1, w2, b2, w3, b3):
    first = relu(x @ w1 + b1)
    second = relu(first @ w2 + b2)
    out = softmax(second @ w3 + b3)
    out_bar = 2.0 * out * out
    logits_bar = out_bar - out * np.sum(out_bar, axis=1, keepdims=True)
    second_bar = (logits_bar @ w3.T) * (second > 0.0)
    first_bar = (second_bar @ w2.T) * (first > 0.0)
    return (first_bar @ w1.T, x.T @ first_bar, first_bar.sum(axis=0), first.T @ second_bar, second_bar.sum(axis=0),
            second.T @ logits_bar, logits_bar.sum(axis=0))  # fmt: skip


def attention(q, k, v):
    """Heads (h, n, d): each place looks at those before it."""
    n, d = q.shape[1:]
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(d)
    return softmax(np.where(np.tri(n, dtype=bool), scores, -1e30)) @ v


def attention_loss(q, k, v):
    return np.sum(attention(q, k, v) ** 2)


def attention_in_jax():
    import jax
    import jax.numpy as jnp

    def loss(q, k, v):
        n, d = q.shape[1:]
        scores = jnp.einsum("hid,hjd->hij", q, k) / jnp.sqrt(d)
        shares = jax.nn.softmax(jnp.where(jnp.tri(n, dtype=bool), scores, -jnp.inf), axis=-1)
        return jnp.sum((shares @ v) ** 2)

    return loss


def attention_in_torch():
    import torch

    def loss(q, k, v):
        return torch.sum(torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True) ** 2)

    return loss


def attention_by_hand(q, k, v):
    n, d = q.shape[1:]
    scores = np.where(np.tri(n, dtype=bool), q @ k.transpose(0, 2, 1) / np.sqrt(d), -1e30)
    shares = softmax(scores)
    out_bar = 2.0 * (shares @ v)
    shares_bar = out_bar @ v.transpose(0, 2, 1)
    scores_bar = shares * (shares_bar - np.sum(shares * shares_bar, axis=2, keepdims=True)) / np.sqrt(d)
    return scores_bar @ k, scores_bar.transpose(0, 2, 1) @ q, shares.transpose(0, 2, 1) @ out_bar


def convolution(images, filters):
    """Images (n, height, width, channels), filters (k, k, channels, features), a place at a time."""
    k = filters.shape[0]
    height, width = images.shape[1] - k + 1, images.shape[2] - k + 1
    out = np.empty((images.shape[0], height, width, filters.shape[3]))
    for i in range(height):
        for j in range(width):
            window = images[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * filters[np.newaxis, :, :, :], axis=(1, 2, 3))
    return out


def pooled(x):
    """The largest of each two by two places."""
    height, width = x.shape[1] // 2, x.shape[2] // 2
    out = np.empty((x.shape[0], height, width, x.shape[3]))
    for i in range(height):
        for j in range(width):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def lenet_loss(images, filters1, bias1, filters2, bias2, weights3, bias3, weights4, bias4):
    """Two convolutions with pooling, two layers of neurons (after LeCun and others 1998)."""
    x = pooled(relu(convolution(images, filters1) + bias1))
    x = pooled(relu(convolution(x, filters2) + bias2))
    x = np.reshape(x, (x.shape[0], x.shape[1] * x.shape[2] * x.shape[3]))
    x = relu(x @ weights3 + bias3)
    return np.sum((x @ weights4 + bias4) ** 2)


def lenet_arguments(n, size, k, first, second, hidden, classes):
    left = ((size - k + 1) // 2 - k + 1) // 2
    inner = left * left * second
    return (
        wave(n, size, size, 1), wave(k, k, 1, first) / k, 0.1 * wave(first), wave(k, k, first, second) / k,
        0.1 * wave(second), wave(inner, hidden) / inner**0.5, 0.1 * wave(hidden), wave(hidden, classes),
        0.1 * wave(classes),
    )  # fmt: skip


def lenet_in_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def layer(x, filters, bias):
        x = lax.conv_general_dilated(x, filters, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.reduce_window(jax.nn.relu(x + bias), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(images, filters1, bias1, filters2, bias2, weights3, bias3, weights4, bias4):
        x = layer(layer(images, filters1, bias1), filters2, bias2).reshape(len(images), -1)
        return jnp.sum((jax.nn.relu(x @ weights3 + bias3) @ weights4 + bias4) ** 2)

    return loss


def convolved(x, filters):
    """A sum of products over the places of the filter."""
    k = filters.shape[0]
    rows, columns = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.zeros((len(x), rows, columns, filters.shape[3]))
    for i in range(k):
        for j in range(k):
            out += x[:, i : i + rows, j : j + columns] @ filters[i, j]
    return out


def convolved_back(x, filters, out_bar):
    k = filters.shape[0]
    rows, columns = out_bar.shape[1:3]
    x_bar, filters_bar = np.zeros_like(x), np.empty_like(filters)
    for i in range(k):
        for j in range(k):
            x_bar[:, i : i + rows, j : j + columns] += out_bar @ filters[i, j].T
            filters_bar[i, j] = np.tensordot(x[:, i : i + rows, j : j + columns], out_bar, axes=((0, 1, 2), (0, 1, 2)))
    return x_bar, filters_bar


def windows(x):
    """A view (n, rows, 2, columns, 2, features) of the places that are pooled; an odd rim is left out."""
    n, rows, columns, features = x.shape
    rows, columns = rows // 2, columns // 2
    return x[:, : 2 * rows, : 2 * columns].reshape(n, rows, 2, columns, 2, features)


def lenet_by_hand(images, filters1, bias1, filters2, bias2, weights3, bias3, weights4, bias4):
    x1 = relu(convolved(images, filters1) + bias1)
    y1 = np.max(windows(x1), axis=(2, 4))
    x2 = relu(convolved(y1, filters2) + bias2)
    y2 = np.max(windows(x2), axis=(2, 4))
    flat = y2.reshape(len(images), -1)
    x3 = relu(flat @ weights3 + bias3)
    out_bar = 2.0 * (x3 @ weights4 + bias4)
    x3_bar = (out_bar @ weights4.T) * (x3 > 0.0)
    y_bar = (x3_bar @ weights3.T).reshape(y2.shape)
    found = [flat.T @ x3_bar, x3_bar.sum(axis=0), x3.T @ out_bar, out_bar.sum(axis=0)]
    for given, filters, x, y in ((y1, filters2, x2, y2), (images, filters1, x1, y1)):
        x_bar = np.zeros_like(x)
        most, top = windows(x) == y[:, :, np.newaxis, :, np.newaxis], y_bar * (y > 0.0)
        rows, columns = y.shape[1:3]
        x_bar[:, : 2 * rows, : 2 * columns] = (most * top[:, :, np.newaxis, :, np.newaxis]).reshape(
            len(x), 2 * rows, 2 * columns, -1)
        y_bar, filters_bar = convolved_back(given, filters, x_bar)
        found = [filters_bar, x_bar.sum(axis=(0, 1, 2)), *found]
    return y_bar, *found


def normalized(x):
    """Zero mean and unit spread over the batch."""
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + 1e-5)


def residual_loss(x, narrow, middle, wide):
    """Of a residual block (He and others 2016): to fewer channels, a convolution, and back, added to the input."""
    inner = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, narrow.shape[3]))
    inner[:, 1:-1, 1:-1, :] = relu(normalized(convolution(x, narrow)))
    inner = relu(normalized(convolution(inner, middle)))
    return np.sum(relu(normalized(convolution(inner, wide)) + x) ** 2)


def residual_arguments(n, size, channels, fewer):
    return (wave(n, size, size, channels), wave(1, 1, channels, fewer, phase=1.0),
            wave(3, 3, fewer, fewer, phase=2.0), wave(1, 1, fewer, channels, phase=3.0))  # fmt: skip


def residual_in_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def layer(x, filters, padding):
        x = lax.conv_general_dilated(x, filters, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (x - jnp.mean(x, axis=0)) / jnp.sqrt(jnp.std(x, axis=0) + 1e-5)

    def loss(x, narrow, middle, wide):
        inner = jax.nn.relu(layer(x, narrow, "VALID"))
        inner = jax.nn.relu(layer(inner, middle, "SAME"))
        return jnp.sum(jax.nn.relu(layer(inner, wide, "VALID") + x) ** 2)

    return loss


def normalized_back(x, bar):
    x = x - np.mean(x, axis=0)
    std = np.sqrt(np.mean(x * x, axis=0))
    scale = 1.0 / np.sqrt(std + 1e-5)
    std_bar = -0.5 * scale**3 * np.sum(bar * x, axis=0)
    bar = bar * scale + x * (std_bar / (len(x) * std))
    return bar - np.mean(bar, axis=0)


def residual_by_hand(x, narrow, middle, wide):
    first = convolved(x, narrow)
    inner = np.pad(relu(normalized(first)), ((0, 0), (1, 1), (1, 1), (0, 0)))
    second = convolved(inner, middle)
    then = relu(normalized(second))
    third = convolved(then, wide)
    out_bar = 2.0 * relu(normalized(third) + x)
    then_bar, wide_bar = convolved_back(then, wide, normalized_back(third, out_bar))
    inner_bar, middle_bar = convolved_back(inner, middle, normalized_back(second, then_bar * (then > 0.0)))
    first_bar = normalized_back(first, (inner_bar * (inner > 0.0))[:, 1:-1, 1:-1])
    x_bar, narrow_bar = convolved_back(x, narrow, first_bar)
    return x_bar + out_bar, narrow_bar, middle_bar, wide_bar


def heads(h, n, d):
    return wave(h, n, d), wave(h, n, d, phase=1.0), wave(h, n, d, phase=2.0)


CASES = [
    Case("softmax", softmax_loss, (0,), lambda n, h, m: (3.0 * wave(n, h, m, m), wave(n, h, m, m, phase=1.0)),
         small=(2, 2, 3), large=(16, 4, 64), jax=softmax_in_jax, torch=softmax_in_torch, autograd=softmax_in_autograd,
         hand_numpy=softmax_by_hand, hand_numba=softmax_by_hand_in_loops),
    Case("mlp", mlp_loss, tuple(range(7)), mlp_arguments, small=(3, 2, 4, 3, 2), large=(256, 128, 400, 200, 10),
         jax=mlp_in_jax, torch=mlp_in_torch, hand_numpy=mlp_by_hand),
    Case("attention", attention_loss, (0, 1, 2), heads, small=(2, 4, 3), large=(4, 128, 32), jax=attention_in_jax,
         torch=attention_in_torch, hand_numpy=attention_by_hand),
    Case("lenet", lenet_loss, tuple(range(9)), lenet_arguments, small=(2, 10, 3, 2, 3, 4, 2),
         large=(8, 28, 5, 6, 16, 84, 10), jax=lenet_in_jax, hand_numpy=lenet_by_hand, rewritten=True),
    Case("residual_block", residual_loss, (0, 1, 2, 3), residual_arguments, small=(3, 3, 2, 2), large=(4, 14, 32, 8),
         jax=residual_in_jax, hand_numpy=residual_by_hand, rewritten=True),
]  # fmt: skip
