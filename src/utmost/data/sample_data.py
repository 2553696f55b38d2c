"""A real table that ships with utmost, read with the standard library alone.

`anes96.csv` holds 944 respondents of the American National Election Study of 1996, one row each: those who named
Clinton or Dole and answered every question kept. The columns are those of statsmodels.datasets.anes96, which marks the
table "public domain"; `docs/data.md` says where it comes from and what was left out.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from utmost.errors import InputError

_IDEOLOGY_CODES = (
    "1 extremely liberal, 2 liberal, 3 slightly liberal, 4 moderate, 5 slightly, 6 plainly, 7 extremely conservative"
)
_SCHOOLING_CODES = (
    "1 eight grades or fewer, 2 some high school, 3 high school diploma, 4 some college, 5 community-college degree, "
    "6 bachelor's degree, 7 advanced degree"
)


_ANES96_COLUMNS = MappingProxyType(
    {
        "popul": "1990 Census population of the respondent's place, in thousands, rounded",
        "TVnews": "days of the past week on which the respondent watched the national news on television, 0 to 7",
        "selfLR": f"where the respondent stands: {_IDEOLOGY_CODES}",
        "ClinLR": "where the respondent puts Bill Clinton, coded as selfLR",
        "DoleLR": "where the respondent puts Bob Dole, coded as selfLR",
        "PID": "party: 0 strong, 1 weak, 2 leaning Democrat; 3 independent; 4 leaning, 5 weak, 6 strong Republican",
        "age": "age in years",
        "educ": f"schooling: {_SCHOOLING_CODES}",
        "income": "family income in 1995, in 24 brackets from 1 (under $3,000) to 24 ($105,000 and over)",
        "vote": "expected vote: 0 Clinton, 1 Dole",
    }
)


@dataclass(frozen=True, slots=True)
class SampleTable:
    """A table of exact numbers with its provenance. Every row has one entry for each of `columns`, in order."""

    name: str
    title: str
    source: str
    licence: str
    columns: Mapping[str, str]
    rows: tuple[tuple[Fraction, ...], ...]

    def column(self, name: str) -> tuple[Fraction, ...]:
        """The entries of one column, in row order."""
        if name not in self.columns:
            raise InputError(
                f"column must be one of {', '.join(self.columns)}, got {name!r}", "column", "choose one of those"
            )
        column_index = list(self.columns).index(name)
        return tuple(row[column_index] for row in self.rows)


def count_rows(table: SampleTable, predicate: Callable[[Mapping[str, Fraction]], bool]) -> int:
    """How many rows satisfy the predicate: a counting query, of sensitivity 1 when a row is a person.

    >>> count_rows(anes96(), lambda row: row["vote"] == 0)
    551
    """
    return sum(predicate(dict(zip(table.columns, row, strict=True))) for row in table.rows)


@cache
def anes96() -> SampleTable:
    """The American National Election Study of 1996, in part: 944 respondents, ten columns, one row a respondent.

    >>> len(anes96().rows)
    944
    """
    return SampleTable(
        name="anes96",
        title="American National Election Study, 1996 (subset)",
        source="The American National Election Studies, www.electionstudies.org, as in statsmodels.datasets.anes96",
        licence="public domain, as stated by statsmodels",
        columns=_ANES96_COLUMNS,
        rows=_load_rows("anes96.csv", tuple(_ANES96_COLUMNS)),
    )


def _load_rows(file: str, header: tuple[str, ...]) -> tuple[tuple[Fraction, ...], ...]:
    """The file's decimals as fractions, exactly as written. Its first line must be the header."""
    to_fraction = cache(Fraction)
    reader = csv.reader(files("utmost.data").joinpath(file).read_text(encoding="ascii").splitlines())
    if tuple(next(reader)) != header:
        raise InputError(f"file must start with the columns of {file}, got others", "file", "reinstall utmost")
    return tuple(tuple(to_fraction(entry) for entry in row) for row in reader)
