"""`utmost definition`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from utmost.channel import channel

GAP = "b <= 2*a or b <= 1/2"
BAD = [
    (("definition", "check"), "FILE|WORDS"),
    (("definition", "check", ""), "definition must be pure:EPSILON"),
    (("definition", "check", "laplace"), "definition must be pure:EPSILON"),
    (("definition", "check", "pure:-1"), "epsilon must be >= 0"),
    (("definition", "check", "b <= 2a"), "a product is written with *"),
    (("definition", "check", "none.toml"), "readable text file"),
    (("definition", "check", GAP, "--space", "ring:3"), "space must be"),
    (("definition", "check", GAP, "--plot", "gap.pdf"), "--plot must be a file that ends in"),
    (("definition", "check", "function:nowhere:none"), "predicate must be MODULE:FUNCTION"),
    (("definition", "check", "function:math:hypot"), "predicate must answer True or False"),
    (("definition", "shew", GAP), "show"),
]


def parse_channel(document):
    return channel(document["rows"], document["inputs"], document["outputs"])


def events(mechanism):
    rows = [(mechanism.rows[0, y], mechanism.rows[1, y]) for y in range(len(mechanism.outputs))]
    sums = [(Fraction(0), Fraction(0))]
    for a, b in rows:
        sums += [(c + a, d + b) for c, d in sums]
    return sums


def meets(mechanism):
    return all(b <= 2 * a or b <= Fraction(1, 2) for a, b in events(mechanism))


def test_a_failure_is_mechanisms_that_meet_the_definition_and_what_does_not(utmost):
    document = utmost("definition", "check", GAP, "--json").document
    assert (document["sound"], document["certain"], document["satisfiable"], document["pair"]) == (
        False,
        True,
        True,
        ["i1", "i2"],
    )
    processing, mixture = document["transformation"], document["choice"]
    assert meets(parse_channel(processing["mechanism"]))
    assert parse_channel(processing["mechanism"]).then(parse_channel(processing["post"])) == parse_channel(
        processing["result"]
    )
    assert not meets(parse_channel(processing["result"]))
    first, second, weight = (
        parse_channel(mixture["first"]),
        parse_channel(mixture["second"]),
        Fraction(mixture["weight"]),
    )
    assert meets(first)
    assert meets(second)
    assert (parse_channel(mixture["result"]).rows == first.rows * weight + second.rows * (1 - weight)).all()
    assert not meets(parse_channel(mixture["result"]))
    assert document["closure"][0]["points"] == [["0", "1/2"], ["1/2", "1"], ["1", "1"]]


def test_a_failure_is_printed_as_small_matrices(utmost):
    result = utmost("definition", "check", GAP)
    text = " ".join(result.out.split())
    assert result.code == 0
    assert "Not sound. An event's probabilities may be (0, 1/2) and (1/2, 1), but not (1/4, 3/4) between them." in text
    assert "i1 0 1/2 1/2 i2 1/2 1/2 0 With its outputs processed further by" in text
    assert "The first with probability 1/2, else the second, does not" in text
    assert "The least sound definition above it for (i1, i2): M through 0 1/2, 1/2 1, 1 1." in text


@pytest.mark.parametrize("definition", ["pure:1/10", "approximate:1,1e-6", "identity", "b <= 2*a", "subsampling:1/10"])
def test_sound_definitions_are_called_so_with_their_bound(utmost, definition):
    result = utmost("definition", "check", definition)
    assert "Sound: what meets it still does" in result.out
    assert "Its bound for (i1, i2): M through" in result.out
    assert utmost("definition", "check", definition, "--space", "line:3", "--json").document["sound"] is True


def test_what_is_not_decided_is_reported(utmost):
    assert "No mechanism meets it" in utmost("definition", "check", "a < b").out
    assert "proves nothing beyond it" in " ".join(utmost("definition", "check", "function:operator:le").out.split())
    half_open = utmost("definition", "check", "b < a + 1/10 or a = b")
    assert "Its bound, part of which it leaves out" in half_open.out


def test_many_secrets_are_reported_to_behave_like_two(utmost):
    result = utmost("definition", "check", GAP, "--space", "line:40")
    assert "(39 secrets behave like 0, 1 like 1)" in " ".join(result.out.split())
    document = utmost("definition", "check", GAP, "--space", "line:40", "--json").document
    assert len(document["transformation"]["mechanism"]["rows"]) == 40


def test_pairs_that_fail_by_themselves_only_are_undecided(utmost, tmp_path):
    """On a ring 1 → 2 → 3 → 1 whose other pairs force all to be alike, the failing pair cannot be continued."""
    (tmp_path / "ring.toml").write_text(
        'pairs = [[1, 2], [2, 3], [3, 1]]\npredicate = "a = b"\n[[pair]]\nof = [1, 2]\n'
        'predicate = "b <= a or a = 1/4 and b = 1/2 or a = 1/2 and b = 3/4"\n'
    )
    document = utmost("definition", "check", "ring.toml", "--json").document
    assert (document["sound"], document["whole"]) == (None, False)
    assert "for all of them undecided" in " ".join(utmost("definition", "check", "ring.toml").out.split())


def test_show_has_the_least_and_the_most_at_every_bend(utmost):
    document = utmost("definition", "show", "b <= 2*a", "--space", "line:3", "--json").document
    assert document["allowed"] == [
        {"pair": [0, 1], "ends": [["0", "0", "0"], ["1/3", "1/6", "2/3"], ["2/3", "1/3", "5/6"], ["1", "1", "1"]]}
    ]
    assert "M(a)" in utmost("definition", "show", "points:0 0,0 1/2,1 1").out
    assert "M(a)" in utmost("definition", "show", "function:operator:le").out
    assert "none" in utmost("definition", "show", "a < b and b < 1/2").out


@pytest.mark.slow
@pytest.mark.parametrize("definition", [GAP, "pure:1/10", "a = b or a = 1/4 and b = 3/4 or a = 3/4 and b = 1/4"])
def test_pictures_are_drawn(utmost, tmp_path, definition):
    result = utmost("definition", "check", definition, "--plot", "picture.svg")
    assert "drew picture.svg" in result.err
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").startswith("<svg")
    utmost("definition", "show", "function:operator:le", "--plot", "grid.svg")
    assert (tmp_path / "grid.svg").exists()


@pytest.mark.parametrize(("arguments", "expected"), BAD)
def test_bad_input_is_one_line_and_exit_code_2(utmost, arguments, expected):
    result = utmost(*arguments)
    assert result.code == 2
    assert expected in result.err
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err


def test_a_channel_is_checked_against_a_file_and_against_a_predicate(utmost, tmp_path):
    (tmp_path / "coin.csv").write_text("x,yes,no\n0,2/3,1/3\n1,1/3,2/3\n")
    (tmp_path / "policy.toml").write_text('pairs = [[0, 1]]\nbound = "variation:1/3"\n')
    met = utmost("check", "coin.csv", "--definition", "policy.toml", "--json").document["definition"]
    strict = utmost("check", "coin.csv", "--definition", "b <= 3/2*a", "--json").document["definition"]
    assert (met["satisfied"], strict["satisfied"]) == (True, False)
    assert utmost("check", "coin.csv", "--definition", GAP).code == 2


def test_a_bound_of_many_points_is_shortened_in_the_text_only(utmost, tmp_path):
    points = ",".join(f"{Fraction(k, 100)} {1 - (1 - Fraction(k, 100)) ** 2}" for k in range(101))
    (tmp_path / "smooth.toml").write_text(f'bound = "points:{points}"\n')
    for extra in ((), ("--space", "line:3")):
        assert "101 in all" in " ".join(utmost("definition", "check", "smooth.toml").out.split())
        assert utmost("definition", "check", "smooth.toml", *extra).out.count("\n") < 16
        assert "…" in utmost("definition", "show", "smooth.toml", *extra).out
    document = utmost("definition", "check", "smooth.toml", "--json").document
    assert len(document["closure"][0]["points"]) == 101


def test_the_group_alone_prints_its_help(utmost):
    assert "check" in utmost("definition").out


def test_a_policy_with_hundreds_of_pairs_of_their_own_is_judged_at_once(utmost, tmp_path):
    pair_rules = "".join(f'[[pair]]\nof = [{k}, {k + 1}]\nbound = "variation:1/{k + 2}"\n' for k in range(500))
    (tmp_path / "policy.toml").write_text(f'space = "line:501"\nbound = "pure:1/10"\n{pair_rules}')
    result = utmost("definition", "check", "policy.toml")
    assert result.out.count("Its bound for") == 12
    assert "501 secrets, 1000 ordered pairs, 500 with rules of their own" in " ".join(result.out.split())
