"""Definitions and candidates as people write them: words, a predicate, or a TOML file.

::

    space = "line:6"             # who is related: a space's neighbours; or relation = "pairs:FILE.csv",
                                 # or pairs = [["ann", "bob"]], with both_ways = true for the reverses as well
    bound = "pure:1/10"          # for every pair; or predicate = "b <= 2*a"

    [[pair]]                     # as many as needed
    of = [0, 1]                  # i1, i2: an ordered pair of the relation
    bound = "variation:1/100"    # or predicate = "…"
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from utmost.axioms.closure import closure
from utmost.axioms.curves import Curve
from utmost.axioms.definition import DEFINITION_FORMS, TWO_SECRETS, Definition, check_bound, is_bound_text, parse_bound
from utmost.axioms.predicate_parser import EXAMPLE_PREDICATE, parse_privacy_predicate
from utmost.axioms.relation import Relation, check_printable, label_position, parse_relation, relation_from_pairs
from utmost.axioms.rules import AllowedPairs, Rule
from utmost.axioms.sampled_predicate import SampledPredicate
from utmost.axioms.soundness import Candidate, soundness
from utmost.consumer.files import read_text
from utmost.errors import InputError
from utmost.exact.toml import parse_toml
from utmost.spaces import Space
from utmost.spaces import graph as graph_of
from utmost.spaces import parse_space as space_of
from utmost.spaces.space import Pair, label_text
from utmost.user_functions import load_function

KEYS = ("space", "relation", "pairs", "both_ways", "bound", "predicate", "pair")
RELATED = ("space", "relation", "pairs")
OWN = ("of", "bound", "predicate")
FILED = ("pairs", "matrix", "graph")


def parse_candidate(words: str, relation: Relation | None = None, otherwise: Relation = TWO_SECRETS) -> Candidate:
    """What the words mean: the candidate in a .toml file, or a bound or predicate for every pair of the relation.

    A relation is not for a file that has its own. Without any there is `otherwise`, as a rule one ordered pair.

    >>> parse_candidate("b <= 2*a").rule(0, 1).text
    'b <= 2*a'
    """
    if words.strip().lower().endswith(".toml"):
        return _in_file(Path(words.strip()), relation, otherwise)
    return _uniform(parse_rule(words), words, relation or otherwise)


def parse_definition(words: str, otherwise: Relation = TWO_SECRETS) -> Definition:
    """The same as generic differential privacy, on the file's relation, `otherwise` if it has none; refused if unsound.

    A predicate counts where it allows its boundary: then its bound M says the same.
    """
    made = parse_candidate(words, otherwise=otherwise)
    if made.definition is not None:
        return made.definition
    for rule in (made.default, *made.others.values()):
        if isinstance(rule, Curve):
            check_bound(rule)
    verdict = soundness(made)
    if not verdict.sound:
        raise InputError("definition must satisfy both axioms, got one that does not: ask utmost definition check")
    if not verdict.satisfiable:
        raise InputError("definition must be one that some mechanism meets, got one that refuses certain events")
    curves = {pair: _closed(AllowedPairs(made.rule(*pair))) for pair in made.others}
    return Definition(made.relation, _closed(AllowedPairs(made.default)), curves)


def parse_definition_space(words: str) -> Space | None:
    """The space that a definition file says who is related by, or steps along its pairs, which must connect them.

    None for other words, and for a file that says nothing of it.
    """
    if not words.strip().lower().endswith(".toml"):
        return None
    path = Path(words.strip())
    table = _table(path)
    if "space" in table:
        return space_of(_located(table, "space", path.parent))
    if not any(key in table for key in RELATED):
        return None
    found = _relation(table, path.parent, TWO_SECRETS)
    if not found.connected:
        raise InputError("--space must be given, got none and a definition whose pairs do not connect the secrets")
    return graph_of([(found.labels[x], found.labels[other]) for x, other in found.edges], found.labels, path.name)


def _closed(allowed: AllowedPairs) -> Curve:
    """The bound of a rule that is sound by itself and allows its boundary."""
    found = closure(allowed.rule)
    if allowed.gap() is not None or not found.attained:
        raise InputError("definition must be given by bounds, or by predicates that are sound and allow their boundary")
    return found.bound


def parse_rule(words: str) -> Rule:
    """A bound in words, a predicate, or `function:MODULE:FUNCTION`, a predicate in Python looked at on a grid."""
    if is_bound_text(words):
        return parse_bound(words)
    kind, _, name = words.strip().partition(":")
    if kind == "function":
        return SampledPredicate(load_function(name, "predicate"))
    if not any(letter in words for letter in "<=>≤≥≠"):
        got = label_text(words.strip()) or "nothing"
        raise InputError(
            f"definition must be {DEFINITION_FORMS}, a predicate such as {EXAMPLE_PREDICATE}, or a .toml "
            f"file, got {got}"
        )
    return parse_privacy_predicate(words)


def _uniform(rule: Rule, words: str, relation: Relation, others: Mapping[Pair, Rule] | None = None) -> Candidate:
    """The same rule for all pairs but `others`; subsampling has its reverse from the later secret to the earlier."""
    back: dict[Pair, Rule] = {}
    if isinstance(rule, Curve) and words.strip().startswith("subsampling"):
        turned = rule.reversed
        back = {pair: turned for pair in relation.pairs if pair[0] > pair[1]}
    return Candidate(relation, rule, back | dict(others or {}))


def _in_file(path: Path, relation: Relation | None, otherwise: Relation) -> Candidate:
    table = _table(path)
    if relation is not None and any(key in table for key in RELATED):
        raise InputError("relation must be given once, got one in the file and another beside it: leave one out")
    related = _relation(table, path.parent, relation or otherwise)
    words = _words(table, "definition")
    places, known = {label: k for k, label in enumerate(related.labels)}, set(related.pairs)
    others: dict[Pair, Rule] = {}
    rules: dict[tuple[bool, str], Rule] = {}
    for entry in _listed(table, "pair"):
        first, second = _of(entry)
        pair = label_position(places, first), label_position(places, second)
        if pair in others or pair not in known:
            raise InputError(
                f"definition: [[pair]] of ({label_text(first)}, {label_text(second)}) {_wrong(pair, known)}"
            )
        key = ("bound" in entry, _words(entry, "definition: [[pair]]"))
        if key not in rules:
            rules[key] = _rule(entry, "definition: [[pair]]")
        others[pair] = rules[key]
    return _uniform(_rule(table, "definition"), words, related, others)


def _wrong(pair: Pair, known: set[Pair]) -> str:
    """What is wrong with rules for a pair that has some already, or that is not related."""
    if pair in known:
        return "is given twice: keep one"
    advice = "both_ways = true relates it" if pair[::-1] in known else "add it to the pairs"
    return f"must be related, in this direction, got one that is not: {advice}"


def _table(path: Path) -> dict[str, Any]:
    """What a file says, keys that mean nothing refused."""
    text = read_text(path, "definition")
    try:
        table = parse_toml(text, "definition")
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(f"definition must be a TOML file, got {label_text(path.name)}, which is not TOML") from None
    _known(table, KEYS, "definition")
    return table


def _known(table: Mapping[str, Any], keys: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in keys:
            near = get_close_matches(key, keys, 1)
            hint = f": is it a misspelling of {near[0]}?" if near else f": known are {', '.join(keys)}"
            raise InputError(f"{place}: {label_text(key)} is not a key{hint}")


def _words(table: Mapping[str, Any], place: str) -> str:
    """What stands at `bound` or at `predicate`, of which there must be one."""
    given = [key for key in ("bound", "predicate") if key in table]
    if len(given) != 1:
        raise InputError(f'{place} must have one of bound = "…" and predicate = "…", got {len(given)} of them')
    if not isinstance(table[given[0]], str):
        raise InputError(f"{place}: {given[0]} must be a text, got something else: put quotes around it")
    return str(table[given[0]])


def _rule(table: Mapping[str, Any], place: str) -> Rule:
    words = _words(table, place)
    return parse_bound(words) if "bound" in table else parse_privacy_predicate(words)


def _relation(table: Mapping[str, Any], folder: Path, otherwise: Relation) -> Relation:
    given = [key for key in RELATED if key in table]
    if len(given) > 1:
        raise InputError(f"definition must have one of space, relation and pairs, got {len(given)} of them")
    both = table.get("both_ways", False)
    if not isinstance(both, bool):
        raise InputError("definition: both_ways must be true or false")
    found = otherwise if not given else _related(table, given[0], folder)
    return found.both_ways if both else found


def _related(table: Mapping[str, Any], key: str, folder: Path) -> Relation:
    if key == "pairs":
        return check_printable(relation_from_pairs(_listed(table, "pairs")))
    return parse_relation(_located(table, key, folder))


def _located(table: Mapping[str, Any], key: str, folder: Path) -> str:
    """The words of a space or a relation; a file that they name is looked for beside the definition."""
    words = table[key]
    if not isinstance(words, str):
        raise InputError(f'definition: {key} must be a text such as "line:6"')
    kind, _, name = words.partition(":")
    return f"{kind}:{folder / name}" if kind in FILED else words


def _listed(table: Mapping[str, Any], key: str) -> list[Any]:
    found = table.get(key, [])
    if not isinstance(found, list):
        raise InputError(f"definition: {key} must be a list")
    return found


def _of(entry: Any) -> tuple[Any, Any]:
    """The labels of a [[pair]]."""
    if not isinstance(entry, dict):
        raise InputError("definition: [[pair]] must be a table with of and bound or predicate")
    _known(entry, OWN, "definition: [[pair]]")
    ends = entry.get("of")
    if not isinstance(ends, list) or len(ends) != 2 or not all(type(end) in (str, int) for end in ends):
        raise InputError('definition: [[pair]] must have of = ["i1", "i2"], two labels')
    return ends[0], ends[1]
