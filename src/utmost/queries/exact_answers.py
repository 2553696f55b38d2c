"""The exact answers of several queries, from as few scans of the table as they can share. They are secret."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from utmost.data.row_sums import share_scans

if TYPE_CHECKING:
    from utmost.data.row_sums import RowSums
    from utmost.data.table import Table
    from utmost.queries.privacy_setting import PrivacySetting
    from utmost.queries.query import ExactAnswer, Query

BeginScan = Callable[[Sequence[int]], None]  # is told the places of the queries that the next scan answers


def exact_answers(
    queries: Sequence[Query], table: Table, setting: PrivacySetting, begin: BeginScan = lambda places: None
) -> list[ExactAnswer]:
    """The true answers in the order of the queries. Those that are answered from sums over rows share scans."""
    requests = {place: request for place, query in enumerate(queries) if (request := query.request(setting))}
    answers: dict[int, ExactAnswer] = {}
    for place, query in enumerate(queries):
        if place not in requests:
            begin([place])
            answers[place] = query.exact_answer(table, setting)
    for places in scan_places(requests):
        begin(places)
        sums = table.row_sums([requests[place] for place in places])
        answers |= {place: queries[place].assemble(cells, setting) for place, cells in zip(places, sums, strict=True)}
    return [answers[place] for place in range(len(queries))]


def scan_places(requests: dict[int, RowSums]) -> list[list[int]]:
    """The places of the requests that share a scan."""
    places = list(requests)
    return [[places[index] for index in shared] for shared in share_scans(list(requests.values()))]
