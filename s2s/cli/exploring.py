"""``s2s explore``: what is asked for on the command line in, the text of a page out."""

from __future__ import annotations

from typing import Any

from s2s.cli.dump import Asked, argnums
from s2s.cli.loading import Loaded
from s2s.explorer.data import BACKENDS, MODES, WITHIN, describe, modes_of
from s2s.explorer.page import Page, page_of
from s2s.versions.kinds import read_kinds

__all__ = ["page"]


def page(
    loaded: Loaded, asked: Asked, modes: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Page:
    """The page of a function, with the modes and the backend first that are asked for."""
    backends = tuple(sorted(BACKENDS, key=lambda name: name != asked.backend))
    kinds = {} if args or kwargs else read_kinds(asked.kinds)
    wanted = modes_of(modes)
    return page_of(describe(
        loaded.function, args, kwargs, argnums(asked.wrt, loaded.first), kinds, wanted or MODES, backends,
        float("inf") if wanted else WITHIN))
