"""Rules of Numba's containers, which are Python's own where the code that makes them is followed."""

from __future__ import annotations

from numba import typed

from s2s.models import numba as models
from s2s.rules.table import model

model(typed.List, params="items=()")(models.list_)
model(typed.Dict, params="*args, **kwargs")(models.dict_)
model(typed.List.empty_list.__func__, always=True)(models.empty_list)
model(typed.Dict.empty.__func__, always=True)(models.empty_dict)
