"""Pages: each answers, escapes, and has a twin."""

from __future__ import annotations

import pytest

PAGES = ["/", "/curator", "/consumer", "/designer", "/precision", "/papers", "/jobs", "/reference"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_and_names_its_json_twin(studio, path):
    answer = studio.get(path)
    assert answer.status_code == 200
    json_response = answer.text.partition('type="application/json" href="')[2].partition('"')[0]
    assert studio.get(json_response).headers["content-type"] == "application/json"
