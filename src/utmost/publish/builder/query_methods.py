"""A method for each kind of query, with the keys of a plan as its arguments.

They are written out so that an editor completes them and `help` shows them. A test compares them with the registry:
each kind has its method, and each key that the kind has in a plan is an argument.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Self

from utmost.publish.builder.values import KeyList, Keys, Noise, Number


class QueryMethods(ABC):
    """A method for each kind; every one adds a query and returns the plan. `PlanBuilder` says what they share."""

    @abstractmethod
    def add(self, kind: str, name: str, **keys: Any) -> Self:
        """Add a query of a registered kind, with the keys that it has in a plan."""

    def _add_given(self, kind: str, arguments: Mapping[str, Any]) -> Self:
        """Add a query with the arguments of its method."""
        keys = {key: value for key, value in arguments.items() if key not in ("self", "name")}
        return self.add(kind, arguments["name"], **keys)

    def count(
        self,
        name: str,
        *,
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """How many rows there are.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("count", locals())

    def histogram(
        self,
        name: str,
        *,
        keys: Keys,
        other: bool = False,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """How many rows each cell of ``keys`` has: another name for a count with keys.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("histogram", locals())

    def sum(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        extra_loss: Number | None = None,
        nulls: Number = "drop",
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The sum of a column.

        Values are clamped to ``low`` … ``high`` and rounded to multiples of ``step``: by default 1 where the bounds are
        whole numbers at least 10 apart, else it must be given. A missing value drops its row; ``nulls=48`` takes 48 for
        it. ``extra_loss`` in place of ``step`` is the expected error that rounding may add.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("sum", locals())

    def mean(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        extra_loss: Number | None = None,
        nulls: Number = "drop",
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        rows: int | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The mean of a column.

        Values are clamped to ``low`` … ``high`` and rounded to multiples of ``step``: by default 1 where the bounds are
        whole numbers at least 10 apart, else it must be given. A missing value drops its row; ``nulls=48`` takes 48 for
        it. ``extra_loss`` in place of ``step`` is the expected error that rounding may add. With ``error``, ``rows``
        says about how many rows there are, where their number is secret.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("mean", locals())

    def variance(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        nulls: Number = "drop",
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        rows: int | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The population variance of a column.

        Values are clamped to ``low`` … ``high`` and rounded to multiples of ``step``: by default 1 where the bounds are
        whole numbers at least 10 apart, else it must be given. A missing value drops its row; ``nulls=48`` takes 48 for
        it. With ``error``, ``rows`` says about how many rows there are, where their number is secret.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("variance", locals())

    def quantile(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        nulls: Number = "drop",
        probability: Number | None = None,
        probabilities: Iterable[Number] | None = None,
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """A quantile of a column, or several at once.

        ``probability`` is the share of values below it; ``probabilities=["1/4", "1/2", "3/4"]`` asks for several, which
        are answered in order.

        Values are clamped to ``low`` … ``high`` and rounded to multiples of ``step``: by default 1 where the bounds are
        whole numbers at least 10 apart, else it must be given. A missing value drops its row; ``nulls=48`` takes 48 for
        it.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("quantile", locals())

    def median(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        nulls: Number = "drop",
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The median of a column: its quantile with ``probability="1/2"``.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("quantile", {**locals(), "probability": "1/2"})

    def min(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        nulls: Number = "drop",
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The least value of a column: a grid value that few rows lie below. Prefer a quantile.

        Values are clamped to ``low`` … ``high`` and rounded to multiples of ``step``: by default 1 where the bounds are
        whole numbers at least 10 apart, else it must be given. A missing value drops its row; ``nulls=48`` takes 48 for
        it.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("min", locals())

    def max(
        self,
        name: str,
        *,
        column: str,
        low: Number,
        high: Number,
        step: Number | None = None,
        nulls: Number = "drop",
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The largest value of a column: a grid value that few rows lie above. Prefer a quantile.

        Values are clamped to ``low`` … ``high`` and rounded to multiples of ``step``: by default 1 where the bounds are
        whole numbers at least 10 apart, else it must be given. A missing value drops its row; ``nulls=48`` takes 48 for
        it.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("max", locals())

    def top(
        self,
        name: str,
        *,
        keys: Keys,
        k: int,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """The ``k`` cells of ``keys`` with the most rows, in order.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("top", locals())

    def distinct(
        self,
        name: str,
        *,
        column: str,
        domain: KeyList | None = None,
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
        over: bool | Number = False,
    ) -> Self:
        """How many different values a column has.

        With a ``domain``, a list of public values or a range, only its values count.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("distinct", locals())

    def over(
        self,
        name: str,
        *,
        column: str | None = None,
        domain: KeyList | None = None,
        keys: Keys | None = None,
        other: bool = False,
        by: str | Iterable[str] | None = None,
        where: str | None = None,
        epsilon: Number | None = None,
        share: Number | None = None,
        error: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Noise | None = None,
    ) -> Self:
        """How many persons have more rows than are kept of each.

        ``column`` (rows without a value in it do not count), ``domain``, ``keys`` or ``by``, and ``where`` say which
        rows are meant.

        ``help(ut.builder.PlanBuilder)`` tells of the arguments that all kinds share.
        """
        return self._add_given("over", locals())
