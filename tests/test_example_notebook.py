"""The notebook of the documents runs, and has the output that is stored in it."""

import os
import re

import pytest

from tests.helpers import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def outputs(notebook):
    """What cells show, as text, without addresses, and frames of the kernel."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                found.append((output.ename, output.evalue))
            else:
                data = output.get("data") or {"text/plain": output.text}
                found.append({kind: re.sub(r"\s+", " ", text) for kind, text in data.items()})
    return found


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_is_stored(rewrite, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(
        fresh, timeout=200, kernel_name="python3", resources={"metadata": {"path": ROOT}},
        iopub_timeout=200, raise_on_iopub_timeout=True,  # else what a busy machine shows late is left out
    ).execute()
    for cell in fresh.cells:
        cell.metadata.pop("execution", None)
    if rewrite:
        nbformat.write(fresh, NOTEBOOK)
        stored = fresh
    assert outputs(fresh) == outputs(stored)
    shown = str(outputs(fresh))
    assert "<polyline" in shown and "NonFiniteError" in shown and "[0.4 9.8]" in shown
