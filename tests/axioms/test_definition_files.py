"""Definitions in words and in files."""

from fractions import Fraction

import pytest

from utmost.axioms import (
    parse_bound,
    predicate,
    pure,
    relation_from_pairs,
    relation_from_space,
    soundness,
    subsampling,
    variation,
)
from utmost.axioms.definition_files import parse_candidate, parse_definition, parse_definition_space
from utmost.axioms.pair_rules import SampledPredicate
from utmost.errors import InputError
from utmost.exact import alpha, epsilon
from utmost.spaces import line, parse_space

POLICY = """
pairs = [["ann", "bob"], ["bob", "cyd"]]
both_ways = true
bound = "pure:1/10"

[[pair]]
of = ["ann", "bob"]
bound = "variation:1/100"
"""


@pytest.fixture
def write_file(tmp_path):
    def write(text, name="policy.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_file_has_a_relation_a_bound_for_all_and_bounds_for_some(write_file):
    definition = parse_definition(write_file(POLICY))
    assert definition.relation == relation_from_pairs([("ann", "bob"), ("bob", "cyd"), ("bob", "ann"), ("cyd", "bob")])
    assert definition.bound(0, 1) == variation("1/100")
    assert definition.bound(1, 0) == definition.bound(2, 1) == pure(epsilon("1/10"))


def test_a_relation_is_a_space_a_file_of_pairs_or_given_beside(write_file):
    write_file("a,b\n", "pairs.csv")
    assert parse_definition(
        write_file('relation = "pairs:pairs.csv"\nbound = "identity"')
    ).relation == relation_from_pairs([("a", "b")])
    definition = parse_definition(write_file('space = "line:4"\nbound = "identity"'))
    assert definition.relation == relation_from_space(line(4))
    assert parse_definition("identity", relation_from_space(line(4))).relation == definition.relation
    assert (
        parse_definition(write_file('bound = "identity"'), relation_from_space(line(4))).relation == definition.relation
    )
    assert parse_definition(
        write_file('space = "line:3"\nbound = "identity"'), relation_from_space(line(4))
    ).relation == relation_from_space(line(3))
    with pytest.raises(InputError, match="given once"):
        parse_candidate(write_file('space = "line:4"\nbound = "identity"'), relation_from_space(line(4)))


def test_a_file_has_a_space_its_own_or_steps_along_its_pairs(write_file):
    space = parse_definition_space(write_file(POLICY))
    assert (space.labels, space.distance(0, 2), space.name) == (("ann", "bob", "cyd"), 2, "policy.toml")
    assert (
        parse_definition_space(write_file('space = "grid:2x2"\nbound = "identity"')).edges
        == parse_space("grid:2x2").edges
    )
    assert parse_definition_space(write_file('bound = "identity"')) is None
    assert parse_definition_space("pure:1/10") is None
    with pytest.raises(InputError, match="do not connect"):
        parse_definition_space(write_file('pairs = [["a", "b"], ["c", "d"]]\nbound = "identity"'))


def test_a_predicate_that_is_sound_and_closed_is_a_definition():
    assert parse_definition("b <= 2*a and 2*(1-b) >= 1-a").default == pure(alpha("1/2"))
    with pytest.raises(InputError, match="ask utmost definition check"):
        parse_definition("b <= 2*a or b <= 1/2")
    with pytest.raises(InputError, match="allow their boundary"):
        parse_definition("b < a + 1/10 or a = b")
    with pytest.raises(InputError, match="some mechanism meets"):
        parse_definition("a < b")
    with pytest.raises(InputError, match="must be concave"):
        parse_definition("points:0 0,1/2 1/4,1 1")


def test_subsampling_has_its_reverse_from_the_later_secret_to_the_earlier(write_file):
    for definition in (
        parse_definition("subsampling:1/4", relation_from_space(line(3))),
        parse_definition(write_file('space="line:3"\nbound="subsampling:1/4"')),
    ):
        assert definition.bound(0, 1) == definition.bound(1, 2) == subsampling("1/4")
        assert definition.bound(1, 0) == definition.bound(2, 1) == subsampling("1/4").reversed
    assert soundness(parse_candidate("subsampling:1/4", relation_from_space(line(3)))).sound


def test_a_text_is_a_bound_a_predicate_or_a_function():
    assert parse_candidate("variation:1/10").default == variation("1/10")
    assert parse_candidate(" b <= a ").default == predicate("b <= a")
    assert parse_candidate("points:0 0,1/2 1/4,1 1").default == parse_bound("points:0 0,1/2 1/4,1 1")
    assert isinstance(parse_candidate("function:operator:le").default, SampledPredicate)
    assert parse_candidate("function:operator:le").default(Fraction(1, 3), Fraction(1, 2)) is True


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "one of bound"),
        ("bound = 1", "bound must be a text"),
        ('bound = "identity"\npredicate = "a = b"', "got 2 of them"),
        ("bound = ", "not TOML"),
        ('bund = "identity"', "misspelling of bound"),
        ('bound = "identity"\nspace = 3', "space must be a text"),
        ('bound = "identity"\nspace = "line:3"\npairs = [["a", "b"]]', "one of space, relation and pairs"),
        ('bound = "identity"\nspace = "ring:3"', "space must be"),
        ('bound = "identity"\nboth_ways = 1', "true or false"),
        ('bound = "identity"\npairs = 3', "pairs must be a list"),
        ('bound = "identity"\npairs = [["a", "a"]]', "irreflexive, got a pair of a with itself"),
        ('bound = "identity"\npairs = [["a", 1.5]]', "two labels"),
        ('bound = "identity"\npair = 3', "pair must be a list"),
        ('bound = "identity"\npair = [3]', "must be a table"),
        ('bound = "identity"\n[[pair]]\nof = ["i1"]\nbound = "identity"', "two labels"),
        ('bound = "identity"\n[[pair]]\nof = ["i1", "i3"]\nbound = "identity"', "of its labels, got i3"),
        ('bound = "identity"\n[[pair]]\nof = ["i2", "i1"]\nbound = "identity"', "both_ways = true relates it"),
        ('space = "line:3"\nbound = "identity"\n[[pair]]\nof = [0, 2]\nbound = "identity"', "add it to the pairs"),
        ('bound = "identity"\n[[pair]]\nof = ["i1", "i2"]', "one of bound"),
        ('bound = "identity"\n' + '[[pair]]\nof = ["i1", "i2"]\nbound = "identity"\n' * 2, "given twice"),
        ('bound = "identity"\n[[pair]]\nof = ["i1", "i2"]\nweight = 1', "weight is not a key"),
        ('bound = "pure:x"', "epsilon must be a number"),
        ('predicate = "b <= 2a"', "a product is written with *"),
        ('relation = "pairs:none.csv"\nbound = "identity"', "readable text file"),
        ("x" * 100_000, "not TOML"),
        ("a" + ".a" * 100_000 + " = 1", "at most 100 parts"),
        ('bound = "identity"\npairs = [["1", 1]]', "2 of which 1 are written differently"),
        ('bound = "identity"\npairs = [["a", "\\u001b[31mb"]]', "without control characters"),
        ('bound = "identity"\npairs = [["a", ""]]', "printable"),
    ],
)
def test_a_file_that_means_no_definition_is_refused_in_one_line(write_file, text, problem):
    with pytest.raises(InputError) as error:
        parse_candidate(write_file(text))
    assert problem in str(error.value)
    assert "\n" not in str(error.value)
