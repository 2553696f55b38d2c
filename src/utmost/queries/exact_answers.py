"""The exact answers of several queries, from as few scans of the table as they can share. They are secret."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from utmost.data.cells import Grouping
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
    """The true answers in the order of the queries. Those that are answered from sums over rows share scans.

    Queries that ask for the very same sums, as the levels of a table do, get them from one scan: whatever is drawn for
    it, such as which rows of a person are kept, is the same for all of them.
    """
    requests = {place: request for place, query in enumerate(queries) if (request := query.request(setting))}
    answers: dict[int, ExactAnswer] = {}
    for place, query in enumerate(queries):
        if place not in requests:
            begin([place])
            answers[place] = query.exact_answer(table, setting)
    same_places = _places_by_request(requests)
    for places in scan_places({same[0]: requests[same[0]] for same in same_places}):
        askers = [same for same in same_places if same[0] in places]
        begin(sorted(place for same in askers for place in same))
        sums = dict(zip(places, table.row_sums([requests[place] for place in places]), strict=True))
        answers |= {place: queries[place].assemble(sums[same[0]], setting) for same in askers for place in same}
    return [answers[place] for place in range(len(queries))]


def _places_by_request(requests: dict[int, RowSums]) -> list[list[int]]:
    """The places of each different request; the cells of equal groupings are in the order of their columns."""
    by_request: dict[Hashable, list[int]] = {}
    for place, request in requests.items():
        columns = tuple(request.grouping.keys) if isinstance(request.grouping, Grouping) else ()
        by_request.setdefault((request, columns), []).append(place)
    return list(by_request.values())


def scan_places(requests: dict[int, RowSums]) -> list[list[int]]:
    """The places of the requests that share a scan."""
    places = list(requests)
    return [[places[index] for index in shared] for shared in share_scans(list(requests.values()))]
