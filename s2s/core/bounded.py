"""A dict that forgets: what is computed once and kept for the next time, up to a number of entries."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["Recent"]

K = TypeVar("K")
V = TypeVar("V")


class Recent(dict[K, V], Generic[K, V]):
    """Holds at most ``most`` entries; then the oldest half goes. What reads it can make an entry anew."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.most and key not in self:
            for old in list(self)[: self.most // 2]:
                self.pop(old, None)
        super().__setitem__(key, value)
