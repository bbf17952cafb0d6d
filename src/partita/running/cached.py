"""`functools.cached_property` without a lock.

Python 3.11 holds one while it computes, for all objects of a class: a process that another thread forks meanwhile would
wait for it forever. Without it, as in later versions, two threads may both compute the value, and one is kept.
"""

import functools
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """A property that is computed when first asked for."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value and leave it in the object, where it is found before this from then on."""
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value
