"""Charts hold the data they were given: read back from the charts and from the files."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from utmost.channel import channel
from utmost.charts import BeliefPanel, ChartLine, belief_chart, channel_chart, line_chart, save_chart
from utmost.errors import InputError
from utmost.exact import alpha
from utmost.mechanisms import geometric
from utmost.reports import quantity

SMALL = channel([["2/3", "1/3", "0"], ["1/3", "2/3", "0"]])


def chart_rows(chart) -> list[dict]:
    document = chart.to_dict()
    return document["datasets"][document["data"]["name"]]


class AddressCollector(HTMLParser):
    """Collects what the tags of a page load or link to."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]


def test_a_heat_map_has_one_square_for_each_entry_with_its_probability():
    cells = chart_rows(channel_chart(SMALL, "t"))
    assert [(c["input"], c["output"], c["entry"]) for c in cells] == [
        (str(x), str(y), str(SMALL.rows[x, y])) for x in range(2) for y in range(3)
    ]
    assert all(cell["chance"] == float(Fraction(cell["entry"])) for cell in cells)


@pytest.mark.parametrize(("size", "has_text"), [(5, True), (30, False)])
def test_entries_are_written_in_where_there_is_room(size, has_text):
    marks = [
        layer["mark"]["type"]
        for layer in channel_chart(geometric(size, alpha("1/2")).channel(), "t").to_dict()["layer"]
    ]
    assert marks == (["rect", "text"] if has_text else ["rect"])


def test_a_large_channel_is_shown_by_five_of_its_laws():
    source = geometric(80, alpha("9/10")).channel()
    points = chart_rows(channel_chart(source, "t"))
    assert {point["name"] for point in points} == {"0", "20", "40", "60", "80"}
    middle = [point["y"] for point in points if point["name"] == "40"]
    assert middle == [float(value) for value in source.rows[40]]


def test_a_law_of_points_is_drawn_as_points_and_pairs_share_a_colour():
    law, intended = (
        ChartLine("law", (0, 1), (2, 3), stems=True, colour=1),
        ChartLine("meant", (0, 1), (2.5, 2.5), colour=1),
    )
    document = line_chart([law, intended], "t", x="result").to_dict()
    assert [layer["mark"]["type"] for layer in document["layer"]] == ["line", "rule", "point"]
    colours = document["layer"][0]["encoding"]["color"]["scale"]
    assert colours["domain"] == ["law", "meant"]
    assert len(set(colours["range"])) == 1
    assert document["layer"][0]["transform"] == [{"filter": 'indexof(["law"], datum.name) < 0'}]


def test_a_share_of_a_law_is_drawn_as_an_area_down_to_zero():
    law, share = ChartLine("law", (0, 1, 2), (2, 3, 2)), ChartLine("share", (0, 1), (2, 3), colour=0, filled=True)
    document = line_chart([law, share], "t").to_dict()
    assert [layer["mark"]["type"] for layer in document["layer"]] == ["line", "area"]
    assert document["layer"][1]["encoding"]["y"]["stack"] is None
    assert document["layer"][1]["transform"] == [{"filter": 'indexof(["share"], datum.name) >= 0'}]


def test_curves_keep_their_points_and_names_in_order():
    chart = line_chart([ChartLine("b", (0, 1), (2, 3)), ChartLine("a", (0, 1), (4, 5))], "t", x="ε", y="loss")
    assert [(p["name"], p["y"]) for p in chart_rows(chart)] == [("b", 2.0), ("b", 3.0), ("a", 4.0), ("a", 5.0)]
    assert chart.to_dict()["encoding"]["color"]["scale"]["domain"] == ["b", "a"]


def test_beliefs_have_a_panel_each_with_the_answer_and_the_reading():
    beliefs = [BeliefPanel("one", (3, 4, 5), (0.2, 0.5, 0.3), 4), BeliefPanel("two", (3, 4, 5), (0.1, 0.1, 0.8), 5)]
    document = belief_chart(3, beliefs, "t").to_dict()
    panels = document["vconcat"]
    assert [panel["title"]["text"] for panel in panels] == ["one", "two"]
    for panel, belief in zip(panels, beliefs, strict=True):
        bars, answer, reading = (document["datasets"][layer["data"]["name"]] for layer in panel["layer"])
        assert [bar["chance"] for bar in bars] == list(belief.chances)
        assert (answer, reading) == ([{"count": 3}], [{"count": belief.estimate}])


def test_an_svg_contains_the_title_and_the_fractions(tmp_path):
    save_chart(channel_chart(SMALL, "A claim", "and why"), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<svg")
    assert all(f">{word}<" in text for word in ("A claim", "and why", "2/3", "1/3", "0"))


def test_a_png_has_two_pixels_for_each_unit(tmp_path):
    save_chart(channel_chart(SMALL, "t"), tmp_path / "a.png")
    save_chart(channel_chart(SMALL, "t"), tmp_path / "a.svg")
    head = (tmp_path / "a.png").read_bytes()[:24]
    width = float(re.search(r'width="([\d.]+)"', (tmp_path / "a.svg").read_text())[1])
    assert head.startswith(b"\x89PNG")
    assert int.from_bytes(head[16:20]) == pytest.approx(2 * width, abs=2)


def test_an_html_page_loads_nothing_from_elsewhere(tmp_path):
    save_chart(channel_chart(SMALL, "t"), tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "vegaEmbed" in page
    collector = AddressCollector()
    collector.feed(page)
    assert collector.addresses == []
    assert not re.search(r"""\bimport\s*\(?\s*["']https?:""", page)


HOSTILE = "</script><script>alert(3)</script><!--<script>&\u2028\u2029"


class ScriptCounter(HTMLParser):
    """How many scripts a page has, as a browser parts it."""

    def __init__(self):
        super().__init__()
        self.scripts = 0

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"


def count_scripts(page):
    counter = ScriptCounter()
    counter.feed(page)
    return counter.scripts


def test_no_text_of_a_chart_ends_the_script_of_its_page(tmp_path):
    hostile_channel = channel([["2/3", "1/3"], ["1/3", "2/3"]], [HOSTILE, "x"], [HOSTILE, "y"])
    save_chart(channel_chart(hostile_channel, HOSTILE, HOSTILE), tmp_path / "a.html")
    save_chart(channel_chart(SMALL, "t"), tmp_path / "plain.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert count_scripts(page) == count_scripts((tmp_path / "plain.html").read_text(encoding="utf-8"))
    spec = page.rpartition("const spec = ")[2].partition(";\n")[0]
    assert not set(spec) & set("<>&\u2028\u2029")
    assert json.dumps(HOSTILE) in json.dumps(json.loads(spec))


def test_no_text_of_a_chart_is_markup_in_a_drawing(tmp_path):
    save_chart(channel_chart(SMALL, "</text><script>alert(3)</script>"), tmp_path / "a.svg")
    assert "<script" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_another_format_or_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"must be \.svg, \.png or \.html"):
        save_chart(channel_chart(SMALL, "t"), tmp_path / "a.pdf")
    with pytest.raises(InputError, match=r"cannot write a\.svg"):
        save_chart(channel_chart(SMALL, "t"), tmp_path / "nowhere" / "a.svg")


def test_ticks_and_texts_group_digits_alike(tmp_path):
    line = ChartLine("noise", (-20_000.0, 16_000.0, 17_000.0), (1234.0, 16_640.0, 0.5))
    save_chart(line_chart([line], "A line"), tmp_path / "line.svg")
    labels = re.findall(r">([^<>]*)</text>", (tmp_path / "line.svg").read_text(encoding="utf-8"))
    assert quantity(16_000).typeset in labels
    assert quantity(-20_000).typeset in labels
    assert not any("," in label for label in labels)
