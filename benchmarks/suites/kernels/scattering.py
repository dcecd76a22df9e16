"""Self-energies of electrons that scatter at phonons: products of small matrices in eight nested loops."""

import numpy as np

from benchmarks.case import Case, wave


def self_energies(neighbours, couplings, green, phonons):
    """Of each wave vector, energy and atom, a matrix; a term for each phonon, each neighbour, each pair of directions.

    ``green`` (wave vectors, energies, atoms, m, m), ``phonons`` (wave vectors, energies, atoms, neighbours, 3, 3),
    ``couplings`` (atoms, neighbours, 3, m, m).
    """
    found = np.zeros_like(green)
    vectors, energies, atoms = green.shape[:3]
    for k in range(vectors):
        for e in range(energies):
            for q in range(phonons.shape[0]):
                for w in range(phonons.shape[1]):
                    for i in range(3):
                        for j in range(3):
                            for a in range(atoms):
                                for b in range(neighbours.shape[1]):
                                    if e - w >= 0:
                                        left = green[k - q, e - w, neighbours[a, b]] @ couplings[a, b, i]
                                        right = couplings[a, b, j] * phonons[q, w, a, b, i, j]
                                        found[k, e, a] += left @ right
    return found


def self_energies_loss(neighbours, couplings, green, phonons):
    return np.sum(self_energies(neighbours, couplings, green, phonons) ** 2)


def arguments(vectors, energies, atoms, near, m):
    neighbours = (np.arange(atoms)[:, np.newaxis] + 1 + 2 * np.arange(near)) % atoms
    return (neighbours, wave(atoms, near, 3, m, m), wave(vectors, energies, atoms, m, m, phase=1.0),
            wave(vectors, 2, atoms, near, 3, 3, phase=2.0))  # fmt: skip


def in_jax():
    import jax.numpy as jnp

    def loss(neighbours, couplings, green, phonons):
        vectors, energies = green.shape[:2]
        inner = jnp.einsum("qwabij,abjmn->qwabimn", phonons, couplings)
        places = (jnp.arange(vectors)[:, None] - jnp.arange(phonons.shape[0])) % vectors
        found = jnp.zeros_like(green)
        for w in range(phonons.shape[1]):
            moved = green[:, : energies - w][:, :, neighbours][places]
            left = jnp.einsum("kqeabmn,abinp->kqeabimp", moved, couplings)
            found = found.at[:, w:].add(jnp.einsum("kqeabimp,qabipr->keamr", left, inner[:, w]))
        return jnp.sum(found**2)

    return loss


def by_hand(neighbours, couplings, green, phonons):
    energies, atoms = green.shape[1:3]
    near = neighbours.shape[1]
    inner = np.einsum("qwabij,abjmn->qwabimn", phonons, couplings)
    kernel = np.einsum("abinp,qwabipr->qwabnr", couplings, inner)
    found = np.zeros_like(green)
    for q in range(phonons.shape[0]):
        for w in range(phonons.shape[1]):
            moved = np.roll(green, q, axis=0)[:, : energies - w][:, :, neighbours]
            found[:, w:] += np.einsum("keabmn,abnr->keamr", moved, kernel[q, w], optimize=True)
    bar, green_bar, kernel_bar = 2.0 * found, np.zeros_like(green), np.empty_like(kernel)
    for q in range(phonons.shape[0]):
        for w in range(phonons.shape[1]):
            moved = np.roll(green, q, axis=0)[:, : energies - w][:, :, neighbours]
            kernel_bar[q, w] = np.einsum("keabmn,keamr->abnr", moved, bar[:, w:], optimize=True)
            moved_bar = np.einsum("keamr,abnr->keabmn", bar[:, w:], kernel[q, w], optimize=True)
            part = np.zeros_like(green)
            for a in range(atoms):
                for b in range(near):
                    part[:, : energies - w, neighbours[a, b]] += moved_bar[:, :, a, b]
            green_bar += np.roll(part, -q, axis=0)
    inner_bar = np.einsum("abinp,qwabnr->qwabipr", couplings, kernel_bar)
    couplings_bar = np.einsum("qwabnr,qwabipr->abinp", kernel_bar, inner)
    couplings_bar += np.einsum("qwabimn,qwabij->abjmn", inner_bar, phonons)
    phonons_bar = np.einsum("qwabimn,abjmn->qwabij", inner_bar, couplings)
    return couplings_bar, green_bar, phonons_bar


CASE = Case("self_energies", self_energies_loss, (1, 2, 3), arguments, small=(2, 3, 3, 1, 2), large=(2, 4, 6, 2, 6),
            jax=in_jax, hand_numpy=by_hand, rewritten=True)  # fmt: skip
