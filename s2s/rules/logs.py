"""What writes to logs: called as it is, with the values that the program has there."""

from __future__ import annotations

import logging

from s2s.rules.functions import describe
from s2s.rules.table import zero

_NAMES = ("debug", "info", "warning", "error", "critical", "exception", "log")
_WRITES = [getattr(owner, name) for owner in (logging, logging.Logger) for name in _NAMES] + [logging.Logger._log]

zero(*_WRITES)
describe(*_WRITES, acts=True, pure=False, changes=(), holds=False, calls_back=False)
