"""Rules of rotations: what SciPy has compiled for NumPy it has once more in Python, for other array modules; and which
models stand for what lies between rotations."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from scipy.spatial import transform

from s2s.models import rotations
from s2s.rules.table import model, zero


def _functions(name: str) -> dict[str, Any]:
    """What a private module of SciPy has."""
    try:
        return vars(importlib.import_module(f"scipy.spatial.transform.{name}"))
    except ImportError:
        return {}


for _compiled, _written in (("_rotation_cy", "_rotation_xp"), ("_rigid_transform_cy", "_rigid_transform_xp")):
    _models = _functions(_written)
    for _name, _kernel in _functions(_compiled).items():
        is_own = str(getattr(_kernel, "__module__", None)).endswith(_compiled)
        if is_own and not isinstance(_kernel, type) and inspect.isfunction(_models.get(_name)):
            model(_kernel)(_models[_name])

zero(rotations.segment_of, rotations.rates_found)
model(transform.Slerp)(rotations.slerp)
model(transform.Slerp.__call__)(rotations.slerp_call)
model(transform.RotationSpline)(rotations.spline)
model(transform.RotationSpline.__call__)(rotations.spline_call)
