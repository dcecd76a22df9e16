"""Rules of autograd's own functions; primitives, those of NumPy among them, are what they wrap."""

from __future__ import annotations

import autograd
from autograd import builtins, tracer
from autograd.misc import fixed_points
from autograd.misc.flatten import flatten

from s2s.core.functions import Result
from s2s.models import autograd as models
from s2s.rules.functions import describe
from s2s.rules.table import model, zero

for _name, _operator in models.OPERATORS.items():
    model(getattr(autograd, _name), always=True)(_operator)
model(autograd.checkpoint, always=True)(models.checkpoint)
model(builtins.tuple)(models.tuple_)
model(builtins.list)(models.list_)
model(builtins.dict)(models.dict_)
model(flatten, always=True)(models.flatten)
model(fixed_points.fixed_point)(models.fixed_point)
zero(tracer.getval, tracer.isbox, models.size_of)
describe(tracer.getval, result=Result.SHARED)
