"""Rules of rotations: what SciPy has compiled for NumPy it has once more in Python, for other array modules."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from s2s.rules.table import model


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
