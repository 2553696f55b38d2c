"""Load a user's function from its name MODULE:FUNCTION."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from utmost.errors import InputError


def load_function(name: str, role: str) -> Callable[..., Any]:
    """The function that `module:function` names; `role` is what it was named for.

    Whatever its module does when it is imported, sys.exit included, ends in one line.

    >>> load_function("math:floor", "sampler")(2.5)
    2
    """
    module, _, path = name.partition(":")
    try:
        function: Any = import_module(module)
        for attribute in path.split("."):
            function = getattr(function, attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        kind = type(problem).__name__
        raise InputError(
            f'{role} must be MODULE:FUNCTION that can be loaded, got "{name[:60]}" ({kind})', role
        ) from None
    if not path or not callable(function):
        raise InputError(f'{role} must be MODULE:FUNCTION, got "{name[:60]}", which cannot be called', role)
    loaded_function: Callable[..., Any] = function
    return loaded_function
