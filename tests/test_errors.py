"""Errors carry their field and their hint, and pass from one process to another."""

from __future__ import annotations

import inspect
import pickle

import pytest

from utmost import errors
from utmost.errors import InputError, OutputError, UtmostError

INPUT_ERRORS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, InputError)]


@pytest.mark.parametrize("kind", INPUT_ERRORS)
def test_an_input_error_says_context_message_and_hint_in_one_line(kind: type[InputError]) -> None:
    error = kind("low must be below high", "low", "swap them").within('query "age"')
    assert type(error) is kind
    assert str(error) == 'query "age": low must be below high: swap them'
    assert (error.field, error.hint, error.context) == ("low", "swap them", 'query "age"')
    assert error.text == "low must be below high: swap them"
    assert error.about("query.0.low").field == "query.0.low"


@pytest.mark.parametrize("kind", INPUT_ERRORS)
def test_an_input_error_without_field_and_hint_is_its_message(kind: type[InputError]) -> None:
    error = kind("a channel must have one input")
    assert (str(error), error.field, error.hint, error.context) == (error.message, None, None, None)


def test_a_context_is_named_once_and_others_are_put_before_it() -> None:
    error = InputError("row 2 must sum to 1").within("a.csv")
    assert error.within("a.csv") is error
    assert str(error.within("--prior")) == "--prior: a.csv: row 2 must sum to 1"
    assert str(error) == "a.csv: row 2 must sum to 1"


@pytest.mark.parametrize(
    "error",
    [*(kind("low must be below high", "low", "swap them").within("plan") for kind in INPUT_ERRORS)],
    ids=lambda error: type(error).__name__,
)
def test_an_input_error_passes_from_one_process_to_another(error: InputError) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert vars(copied) == vars(error)
    assert str(copied) == str(error)


def test_every_other_error_passes_too() -> None:
    for kind in (kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, UtmostError)):
        if not issubclass(kind, InputError):
            error = kind("message", "{}") if kind is OutputError else kind("message")
            copied = pickle.loads(pickle.dumps(error))
            assert (type(copied), str(copied), vars(copied)) == (kind, "message", vars(error))
