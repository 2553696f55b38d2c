"""Read definitions and candidates: a named bound, a predicate, or a TOML file.

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

from utmost.axioms.curves import Curve
from utmost.axioms.definition import (
    DEFINITION_FORMS,
    TWO_SECRETS,
    Definition,
    Relation,
    check_bound,
    check_printable,
    is_bound_text,
    label_position,
    parse_bound,
    parse_relation,
    relation_from_pairs,
)
from utmost.axioms.pair_rules import AllowedPairs, Rule, SampledPredicate
from utmost.axioms.predicate import EXAMPLE_PREDICATE, parse_privacy_predicate
from utmost.axioms.soundness import Candidate, closure, soundness
from utmost.consumer.family import read_text
from utmost.errors import InputError
from utmost.exact.input_text import parse_toml
from utmost.spaces import Space
from utmost.spaces import graph as graph_of
from utmost.spaces import parse_space as space_of
from utmost.spaces.space import Pair, label_text
from utmost.user_functions import load_function

FILE_KEYS = ("space", "relation", "pairs", "both_ways", "bound", "predicate", "pair")
RELATION_KEYS = ("space", "relation", "pairs")
PAIR_KEYS = ("of", "bound", "predicate")
FILE_KINDS = ("pairs", "matrix", "graph")


def parse_candidate(text: str, relation: Relation | None = None, default_relation: Relation = TWO_SECRETS) -> Candidate:
    """What the text means: the candidate in a .toml file, or a bound or predicate for every pair of the relation.

    A relation is not for a file that has its own. Without any it is `default_relation`, one ordered pair unless given.

    >>> parse_candidate("b <= 2*a").rule(0, 1).text
    'b <= 2*a'
    """
    if text.strip().lower().endswith(".toml"):
        return _read_candidate(Path(text.strip()), relation, default_relation)
    return _uniform_candidate(parse_rule(text), text, relation or default_relation)


def parse_definition(text: str, default_relation: Relation = TWO_SECRETS) -> Definition:
    """The same as generic differential privacy, on `default_relation` if the file has none; refused if unsound.

    A predicate counts where it allows its boundary: then its bound M says the same.
    """
    candidate = parse_candidate(text, default_relation=default_relation)
    if candidate.definition is not None:
        return candidate.definition
    for rule in (candidate.default, *candidate.others.values()):
        if isinstance(rule, Curve):
            check_bound(rule)
    verdict = soundness(candidate)
    if not verdict.sound:
        raise InputError(
            "definition must satisfy both axioms, got one that does not", "definition", "ask utmost definition check"
        )
    if not verdict.satisfiable:
        raise InputError(
            "definition must be one that some mechanism meets, got one that refuses certain events", "definition"
        )
    curves = {pair: _attained_bound(AllowedPairs(candidate.rule(*pair))) for pair in candidate.others}
    return Definition(candidate.relation, _attained_bound(AllowedPairs(candidate.default)), curves)


def parse_definition_space(text: str) -> Space | None:
    """The space that a definition file says who is related by, or steps along its pairs, which must connect them.

    None for other text, and for a file that says nothing of it.
    """
    if not text.strip().lower().endswith(".toml"):
        return None
    path = Path(text.strip())
    table = _read_table(path)
    if "space" in table:
        return space_of(_locate_file(table, "space", path.parent))
    if not any(key in table for key in RELATION_KEYS):
        return None
    relation = _table_relation(table, path.parent, TWO_SECRETS)
    if not relation.connected:
        raise InputError(
            "--space must be given, got none and a definition whose pairs do not connect the secrets", "space"
        )
    return graph_of(
        [(relation.labels[first], relation.labels[second]) for first, second in relation.edges],
        relation.labels,
        path.name,
    )


def _attained_bound(allowed_pairs: AllowedPairs) -> Curve:
    """The bound of a rule that is sound by itself and allows its boundary."""
    rule_closure = closure(allowed_pairs.rule)
    if allowed_pairs.gap() is not None or not rule_closure.attained:
        raise InputError(
            "definition must be given by bounds, or by predicates that are sound and allow their boundary", "definition"
        )
    return rule_closure.bound


def parse_rule(text: str) -> Rule:
    """A named bound, a predicate, or `function:MODULE:FUNCTION`, a predicate in Python looked at on a grid."""
    if is_bound_text(text):
        return parse_bound(text)
    kind, _, name = text.strip().partition(":")
    if kind == "function":
        return SampledPredicate(load_function(name, "predicate"))
    if not any(letter in text for letter in "<=>≤≥≠"):
        got = label_text(text.strip()) or "nothing"
        raise InputError(
            f"definition must be {DEFINITION_FORMS}, a predicate such as {EXAMPLE_PREDICATE}, or a "
            f".toml file, got {got}",
            "definition",
        )
    return parse_privacy_predicate(text)


def _uniform_candidate(
    rule: Rule, text: str, relation: Relation, pair_rules: Mapping[Pair, Rule] | None = None
) -> Candidate:
    """One rule for all pairs but those of `pair_rules`; subsampling is reversed from later to earlier secrets."""
    reverse_rules: dict[Pair, Rule] = {}
    if isinstance(rule, Curve) and text.strip().startswith("subsampling"):
        reverse_curve = rule.reversed
        reverse_rules = {pair: reverse_curve for pair in relation.pairs if pair[0] > pair[1]}
    return Candidate(relation, rule, reverse_rules | dict(pair_rules or {}))


def _read_candidate(path: Path, relation: Relation | None, default_relation: Relation) -> Candidate:
    table = _read_table(path)
    if relation is not None and any(key in table for key in RELATION_KEYS):
        raise InputError(
            "relation must be given once, got one in the file and another beside it", "relation", "leave one out"
        )
    file_relation = _table_relation(table, path.parent, relation or default_relation)
    default_text = _rule_text(table, "definition")
    positions, related_pairs = {label: k for k, label in enumerate(file_relation.labels)}, set(file_relation.pairs)
    pair_rules: dict[Pair, Rule] = {}
    parsed_rules: dict[tuple[bool, str], Rule] = {}
    for entry in _check_list(table, "pair"):
        first, second = _pair_labels(entry)
        pair = label_position(positions, first), label_position(positions, second)
        if pair in pair_rules or pair not in related_pairs:
            problem = _pair_problem(pair, related_pairs)
            raise InputError(f"definition: [[pair]] of ({label_text(first)}, {label_text(second)}) {problem}")
        key = ("bound" in entry, _rule_text(entry, "definition: [[pair]]"))
        if key not in parsed_rules:
            parsed_rules[key] = _parse_table_rule(entry, "definition: [[pair]]")
        pair_rules[pair] = parsed_rules[key]
    return _uniform_candidate(_parse_table_rule(table, "definition"), default_text, file_relation, pair_rules)


def _pair_problem(pair: Pair, related_pairs: set[Pair]) -> str:
    """What is wrong with rules for a pair that has some already, or that is not related."""
    if pair in related_pairs:
        return "is given twice: keep one"
    advice = "both_ways = true relates it" if pair[::-1] in related_pairs else "add it to the pairs"
    return f"must be related, in this direction, got one that is not: {advice}"


def _read_table(path: Path) -> dict[str, Any]:
    """What a file says, keys that mean nothing refused."""
    text = read_text(path, "definition")
    try:
        table = parse_toml(text, "definition")
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(
            f"definition must be a TOML file, got {label_text(path.name)}, which is not TOML", "definition"
        ) from None
    _check_keys(table, FILE_KEYS, "definition")
    return table


def _check_keys(table: Mapping[str, Any], keys: tuple[str, ...], section: str) -> None:
    for key in table:
        if key not in keys:
            matches = get_close_matches(key, keys, 1)
            hint = f": is it a misspelling of {matches[0]}?" if matches else f": known are {', '.join(keys)}"
            raise InputError(f"{section}: {label_text(key)} is not a key{hint}")


def _rule_text(table: Mapping[str, Any], section: str) -> str:
    """What stands at `bound` or at `predicate`, of which there must be one."""
    keys = [key for key in ("bound", "predicate") if key in table]
    if len(keys) != 1:
        raise InputError(f'{section} must have one of bound = "…" and predicate = "…", got {len(keys)} of them')
    if not isinstance(table[keys[0]], str):
        raise InputError(f"{section}: {keys[0]} must be a text, got something else", hint="put quotes around it")
    return str(table[keys[0]])


def _parse_table_rule(table: Mapping[str, Any], section: str) -> Rule:
    text = _rule_text(table, section)
    return parse_bound(text) if "bound" in table else parse_privacy_predicate(text)


def _table_relation(table: Mapping[str, Any], folder: Path, default_relation: Relation) -> Relation:
    keys = [key for key in RELATION_KEYS if key in table]
    if len(keys) > 1:
        raise InputError(
            f"definition must have one of space, relation and pairs, got {len(keys)} of them", "definition"
        )
    both_ways = table.get("both_ways", False)
    if not isinstance(both_ways, bool):
        raise InputError("definition: both_ways must be true or false")
    relation = default_relation if not keys else _parse_relation_key(table, keys[0], folder)
    return relation.both_ways if both_ways else relation


def _parse_relation_key(table: Mapping[str, Any], key: str, folder: Path) -> Relation:
    if key == "pairs":
        return check_printable(relation_from_pairs(_check_list(table, "pairs")))
    return parse_relation(_locate_file(table, key, folder))


def _locate_file(table: Mapping[str, Any], key: str, folder: Path) -> str:
    """The text of a space or a relation; a file that it names is looked for beside the definition."""
    text = table[key]
    if not isinstance(text, str):
        raise InputError(f'definition: {key} must be a text such as "line:6"')
    kind, _, name = text.partition(":")
    return f"{kind}:{folder / name}" if kind in FILE_KINDS else text


def _check_list(table: Mapping[str, Any], key: str) -> list[Any]:
    entries = table.get(key, [])
    if not isinstance(entries, list):
        raise InputError(f"definition: {key} must be a list")
    return entries


def _pair_labels(entry: Any) -> tuple[Any, Any]:
    """The labels of a [[pair]]."""
    if not isinstance(entry, dict):
        raise InputError("definition: [[pair]] must be a table with of and bound or predicate")
    _check_keys(entry, PAIR_KEYS, "definition: [[pair]]")
    labels = entry.get("of")
    if not isinstance(labels, list) or len(labels) != 2 or not all(type(end) in (str, int) for end in labels):
        raise InputError('definition: [[pair]] must have of = ["i1", "i2"], two labels')
    return labels[0], labels[1]
