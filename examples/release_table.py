"""Release numbers from a table: open a budget, see the cost, spend it once.

python examples/release_table.py [FOLDER] writes ledger.sqlite and survey.release.json to FOLDER (default: here).
"""

import shutil
import sys
from pathlib import Path

import utmost as ut

PLAN = Path(__file__).with_name("survey.toml")


def main(folder: Path) -> None:
    """Release the plan once; a second call finds less budget left, and in the end none."""
    plan = folder / PLAN.name
    if not plan.exists():
        shutil.copy(PLAN, plan)  # paths in a plan are relative to it
    with ut.ledger.open_ledger(str(folder / "ledger.sqlite")) as budgets:
        if not budgets.has_budget("survey"):
            budgets.open(ut.ledger.Budget("survey", "1"))  # at most ε = 1 for all releases together
    preview = ut.preview(plan)  # free: nothing is spent, no answer is computed
    print(f"cost ε {preview.cost}, left ε {preview.left}, afterwards ε {preview.after}")
    release = ut.release(plan)  # the charge is on disk before noise is drawn
    print(f"released with ε {release.epsilon}")
    print("dole voters:", release["dole voters"].value)
    print("schooling:", *release["schooling"].value)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
