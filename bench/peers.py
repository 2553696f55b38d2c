"""Other libraries of differential privacy, for the benchmark only: OpenDP here, Tumult in a Python of its own.

Tumult Analytics needs pandas 1 and numpy 1, so it cannot be installed beside utmost. `make tumult` installs it into
.venv/tumult; UTMOST_TUMULT_PYTHON names another Python that has it. It needs Java.
"""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

from measuring import TASK_SECONDS, Measurement

TUMULT_PYTHON = Path(__file__).parent.parent / ".venv" / "tumult" / "bin" / "python"
TUMULT_TASKS = Path(__file__).with_name("tumult_tasks.py")


def missing_opendp() -> str | None:
    """What OpenDP lacks here; None if it can be measured. It reads the plans of one release of Polars only."""
    try:
        required = next(line for line in requires("opendp") or [] if line.startswith("polars==")).split(";")[0].strip()
        installed = f"polars=={version('polars')}"
    except (ImportError, StopIteration):
        return "pip install 'opendp[polars]'"
    return None if installed == required else f"needs {required}, found {installed}"


def opendp() -> tuple[Any, Any]:
    """The modules of OpenDP and Polars, without their warnings."""
    import opendp.prelude as dp
    import polars as pl

    warnings.simplefilter("ignore")
    dp.enable_features("contrib")
    return dp, pl


def opendp_context(dp: Any, frame: Any, person: str, loss: dict[str, float], margins: list[Any]) -> Any:
    """A context in which one question costs `loss`."""
    return dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1, identifier=person),
        privacy_loss=dp.loss_of(**loss),
        split_evenly_over=1,
        margins=margins,
    )


def tumult(task: str, file: Path, **options: Any) -> Measurement:
    """What a task of tumult_tasks.py prints; `missing` says why there is nothing."""
    python = Path(os.environ.get("UTMOST_TUMULT_PYTHON", TUMULT_PYTHON))
    if not python.exists():
        return {"missing": "not installed: make tumult"}
    command = [str(python), str(TUMULT_TASKS), task, str(file), json.dumps(options)]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=TASK_SECONDS - 10, check=False)
    except subprocess.TimeoutExpired:
        return {"missing": f"stopped after {TASK_SECONDS - 10} s"}
    if process.returncode or not process.stdout:
        return {"missing": f"not run: {(process.stderr.strip().splitlines() or ['no message'])[-1][:200]}"}
    measurement: Measurement = json.loads(process.stdout.splitlines()[-1])
    return measurement
