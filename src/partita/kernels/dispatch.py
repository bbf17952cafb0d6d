"""Generic names that compiled code calls, and how a family or a prior answers to them.

A family's or a prior's state is a NamedTuple of arrays. A kernel calls a generic name, for example
``log_predictive(rows, i, w, state, slot)``; numba picks the implementation by the type of the
argument that the name dispatches on. Functions passed as arguments would not be cached on disk.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba.extending import overload


class Generic:
    """One generic name: a table from NamedTuple class to implementation."""

    def __init__(self, stub: Callable, argument: str, has_default: bool, inline: bool):
        self.stub = stub
        self.implementations: dict[type, Callable] = {}
        position = list(inspect.signature(stub).parameters).index(argument)

        def choose(*arguments):
            kind: Any = getattr(arguments[position], "instance_class", None)
            if kind in self.implementations:
                return self.implementations[kind]
            return stub if has_default else None

        options: Any = {"forceinline": inline, "no_cfunc_wrapper": True}  # the latter is missing from annotations
        overload(stub, strict=False, jit_options=options)(choose)


_GENERICS: dict[Callable, Generic] = {}


def generic(argument: str, *, has_default: bool = False, inline: bool = False) -> Callable[[Callable], Callable]:
    """Make a generic name that dispatches on the NamedTuple class of one argument.

    With ``has_default`` the function's own body serves every class that brings none. ``inline`` is for
    names called once per row: passing a state by value would cost as much as their work.
    """

    def decorate(stub: Callable) -> Callable:
        _GENERICS[stub] = Generic(stub, argument, has_default, inline)
        return stub

    return decorate


def implements(name: Callable, kind: type) -> Callable[[Any], Any]:
    """Give ``name`` its compiled meaning for states of class ``kind``."""

    def decorate(implementation: Any) -> Any:
        _GENERICS[name].implementations[kind] = implementation
        return implementation

    return decorate


def is_implemented(name: Callable, kind: type) -> bool:
    """Whether ``name`` has a compiled meaning of its own for states of class ``kind``."""
    return kind in _GENERICS[name].implementations
