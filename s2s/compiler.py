"""What the rooms below ask of the compiler while a program runs: the one entry, which ``s2s`` registers."""

from __future__ import annotations

import s2s.equations
import s2s.integrals  # noqa: F401 - the rules of integrals
from s2s.derivatives import clear, show_compiled
from s2s.directives.policies import under
from s2s.displays import html_of
from s2s.dynamic_calls import jvp_of_call, vjp_of_call, vjp_of_method
from s2s.pickling.sending import reduced
from s2s.sources import adjoint_source, primal_source
from s2s.versions.fitting import fit, fit_tangent

__all__ = [
    "adjoint_source", "clear", "fit", "fit_tangent", "html_of", "jvp_of_call", "primal_source", "reduced",
    "show_compiled", "under",
    "vjp_of_call", "vjp_of_method",
]
