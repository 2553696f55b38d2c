from collections import Counter
from fractions import Fraction
from importlib.resources import files
from math import log

import pytest

from utmost.data.sample_data import anes96, count_rows
from utmost.errors import InputError


def test_anes96_has_the_944_respondents_its_source_states():
    # statsmodels.datasets.anes96.NOTE: "Number of observations - 944", "Number of variables - 10".
    assert len(anes96().rows) == 944
    assert len(anes96().columns) == 10


def test_every_row_has_an_exact_entry_for_each_column():
    table = anes96()
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert all(type(entry) is Fraction and entry.denominator == 1 for row in table.rows for entry in row)


def test_every_code_is_one_the_source_defines():
    # The ranges are those of statsmodels.datasets.anes96.NOTE; no entry stands for a missing answer.
    table = anes96()
    ranges = {
        "TVnews": (0, 7),
        "selfLR": (1, 7),
        "ClinLR": (1, 7),
        "DoleLR": (1, 7),
        "PID": (0, 6),
        "educ": (1, 7),
        "income": (1, 24),
        "vote": (0, 1),
    }
    for name, (low, high) in ranges.items():
        assert set(table.column(name)) == set(range(low, high + 1))


def test_party_identification_has_the_null_log_likelihood_stata_reports():
    # Stata's mlogit of PID on this survey, as kept in statsmodels' results_discrete (Anes.mnlogit_basezero): llnull.
    # Of a model with a constant alone it is Σ n_k log(n_k/n) over the counts of the seven codes.
    sizes = Counter(anes96().column("PID"))
    assert sizes == {0: 200, 1: 180, 2: 108, 3: 37, 4: 94, 5: 150, 6: 175}
    assert sum(size * log(size / 944) for size in sizes.values()) == pytest.approx(-1750.34670999, abs=1e-8)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda row: row["vote"] == 0, 551),
        (lambda row: row["vote"] == 1, 393),
        (lambda row: row["PID"] in (0, 6), 375),
        (lambda row: row["TVnews"] == 7, 288),
        (lambda row: row["TVnews"] == 0, 161),
        (lambda row: row["PID"] <= 2 and row["vote"] == 1, 21),
        (lambda row: row["PID"] >= 4 and row["vote"] == 0, 58),
    ],
)
def test_the_documented_questions_have_the_documented_answers(question, answer):
    # Counted with awk from the file statsmodels ships.
    assert count_rows(anes96(), question) == answer


def test_anes96_is_entry_for_entry_the_table_of_statsmodels():
    statsmodels = pytest.importorskip(
        "statsmodels.datasets.anes96", reason="statsmodels is not installed: make oracles"
    )
    theirs = statsmodels.load_pandas().data
    table = anes96()
    assert list(theirs.columns) == [*table.columns, "logpopul"]  # logpopul is computed on loading, not surveyed
    for name in table.columns:
        assert [float(entry) for entry in table.column(name)] == theirs[name].tolist()


def test_an_unknown_column_is_refused_by_name():
    with pytest.raises(InputError, match="column must be one of"):
        anes96().column("salary")


def test_the_table_is_packaged_beside_its_reader():
    assert files("utmost.data").joinpath("anes96.csv").is_file()


def test_a_table_is_read_once():
    assert anes96() is anes96()
