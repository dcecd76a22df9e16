"""The page of results: what it says of rows that are made by hand."""

import json

from click.testing import CliRunner

from benchmarks.__main__ import main


def row(name, suite, numba, jax, plain=None, **more):
    """One of which NumPy takes 4 ms and the adjoint by hand 2 ms, and the one by statement ``plain`` ms."""
    ratios = {"jax": jax / numba, "hand numpy": 0.5}
    by = {"by statement": plain / 4.0} if plain else {}
    own = {"seconds": numba * 1e-3, "first": 1.5, "ratios": ratios, "ratio": 0.5}
    return {"case": name, "suite": suite, "limit": 9.0, **more, "contenders": {
        "primal": {"seconds": 1e-3}, "s2s numba": own, "jax": {"seconds": jax * 1e-3},
        "s2s numpy": {"seconds": 4e-3, "first": 0.25, "ratios": {"jax": jax / 4.0, "hand numpy": 0.5, **by},
                      "ratio": 4.0},
        "hand numpy": {"seconds": 2e-3}, **({"by statement": {"seconds": plain * 1e-3}} if plain else {}),
    }}  # fmt: skip


def test_the_page_has_means_and_cases_the_slowest_first(tmp_path):
    environment = {"python": "3.12.1", "versions": {"numpy": "2.4.0", "torch": "missing"}}
    old = [row("slow", "kernels", 1.0, 9.0), row("twice", "kernels", 1.0, 2.0)]
    new = [row("slow", "kernels", 1.0, 0.5, rewritten=True), row("model", "ml", 1.0, 3.0, plain=5.0),
           row("other", "ml", 1.0, 4.0)]
    for name, rows in (("old", old), ("new", new)):
        (tmp_path / name).write_text(json.dumps({"environment": environment, "rows": rows}))
    output = tmp_path / "page.md"
    done = CliRunner().invoke(main, ["page", str(tmp_path / "old"), str(tmp_path / "new"), "-o", str(output)])
    assert done.exit_code == 0, done.output
    text = output.read_text()
    assert "Python 3.12.1, numpy 2.4.0." in text
    assert "| JAX / s2s, kernels | 1.00 | >= 2 | 2 | 0.50 | slow |" in text  # of the newer of two runs: sqrt(0.5 * 2.0)
    assert "| gradient / primal, kernels, NumPy | 4.00 | <= 2 | 2 | 4.00 | " in text
    assert "| slow | 1 | 4 | 1 | 0.5 | 0.50 | 2.00+ | - | 1.2 |" in text
    assert "| by statement / s2s, models, NumPy | 1.25 | >= 1.3 | 1 | 1.25 | model |" in text
    assert "| model | 1 | 4 | 1 | 3 | 3.00 | 2.00 | - | 1.2 | 1.25 |" in text
    assert "| other | 1 | 4 | 1 | 4 | 4.00 | 2.00 | - | 1.2 | - |" in text
    assert text.index("| slow | 1 ") < text.index("| twice | 1 ") < text.index("| model | 1 ")
    assert "Faster than JAX in 1 of 2 cases" in text
