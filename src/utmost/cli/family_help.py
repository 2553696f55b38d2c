"""Help texts that list registered families, such as `{priors}`: the lists are made when help is asked for.

Registries load the packages that compute, so the command line must not load them to run `utmost --help`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand


def _prior_forms() -> str:
    from utmost.consumer.priors import PRIORS

    return PRIORS.forms()


def _loss_forms() -> str:
    from utmost.consumer.losses import LOSSES

    return LOSSES.forms()


def _space_forms() -> str:
    from utmost.spaces.registry import forms

    return forms()


def _density_forms() -> str:
    from utmost.continuous.densities import DENSITIES

    return DENSITIES.forms()


def _continuous_loss_forms() -> str:
    from utmost.continuous.losses import CONTINUOUS_LOSSES

    return CONTINUOUS_LOSSES.forms()


FORM_LISTS: dict[str, Callable[[], str]] = {
    "{priors}": _prior_forms,
    "{losses}": _loss_forms,
    "{spaces}": _space_forms,
    "{densities}": _density_forms,
    "{interval losses}": _continuous_loss_forms,
}


def fill_forms(text: str) -> str:
    """The text with its placeholders replaced by lists of what may be written.

    >>> fill_forms("{priors}.")[:31]
    'uniform, binomial:0.3, poisson:'
    """
    for placeholder, forms in FORM_LISTS.items():
        if placeholder in text:
            text = text.replace(placeholder, forms())
    return text


class FamilyCommand(TyperCommand):
    """A command whose help fills in the placeholders of its options, anew each time."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of this command."""
        parameters: list[Any] = [p for p in self.params if isinstance(getattr(p, "help", None), str)]
        templates = [parameter.help for parameter in parameters]
        try:
            for parameter in parameters:
                parameter.help = fill_forms(parameter.help)
            super().format_help(ctx, formatter)
        finally:
            for parameter, template in zip(parameters, templates, strict=True):
                parameter.help = template
