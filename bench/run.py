"""Measure time and memory as ratios against a peer or a limit of the same run.

`make bench` measures everything, writes bench/figures.json and rewrites the pages from it; named parts are printed. The
part `places`, 400 places, runs only where it is named.
`make bench-check` measures the quick figures and fails above a ceiling. `--quick` runs each part with small sizes, to
see that it runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import accountant
import capacity
import counts
import errors
import figures
import frames
import kernels
import local
import measuring
import optimal
import pages
import profiles
import releases
import tables

import continuous
import joint
import noise
import studio

PARTS: dict[str, list[measuring.Section]] = {
    "counts": [counts.SECTION, noise.SECTION],
    "joint": [joint.SECTION],
    "tables": [tables.SECTION, local.SECTION],
    "language": [releases.SECTION, frames.SECTION, errors.SECTION],
    "types": [optimal.SECTION, capacity.SECTION, kernels.SECTION],
    "intervals": [continuous.SECTION],
    "axioms": [profiles.SECTION, accountant.SECTION],
    "studio": [studio.SECTION],
    "places": [optimal.LARGE_SECTION],
}
ON_REQUEST = ("places",)  # parts that a whole run leaves out: they take too long
SECTIONS = {section.name: section for sections in PARTS.values() for section in sections}
CURVE = pages.ROOT / "docs" / "images" / "width.svg"


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help="parts to measure and print; by default all but places"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    parser.add_argument("--check", action="store_true", help="the quick figures against their ceilings")
    parser.add_argument("--task", nargs=3, metavar=("SECTION", "TASK", "FOLDER"), help="one task, as JSON")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"PART must be one of {', '.join(PARTS)}, got {min(unknown)}: name one of them, or none for all")
    return arguments


def failures(measurements: measuring.Measurements, section: measuring.Section) -> list[str]:
    """A line for each task that failed; a peer that is not there or too slow has not failed."""
    reasons = {name: m.get("missing", "") for name, m in measurements.items()}
    return [f"{section.name}: {name} {reason}" for name, reason in reasons.items() if reason.startswith("failed")]


def measure_sections(sections: list[measuring.Section]) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """All measurements by section, the file's content, and the failures; each block is printed when it is there."""
    all_measurements, entries, blocks, problems = {}, [], {}, []
    for section in sections:
        measurements = all_measurements[section.name] = section.measure_all()
        if section_failures := failures(measurements, section):
            problems += section_failures
            continue
        entries += figures.entries(section, measurements)
        section_blocks = section.report(measurements)
        blocks |= section_blocks
        print("\n\n".join("\n".join(lines) for lines in section_blocks.values()) + "\n", flush=True)
    return all_measurements, figures.document(figures.run_description(), entries, blocks), problems


def whole_run() -> list[str]:
    """The parts of a whole run."""
    return [name for name in PARTS if name not in ON_REQUEST]


def run_bench(parts: list[str], quick: bool) -> list[str]:
    """Measure; a whole run without a failure is written to the file and to the pages."""
    sections = [section for name in parts or whole_run() for section in PARTS[name]]
    all_measurements, content, problems = measure_sections(sections)
    print("\n".join(content["blocks"]["figures"]), flush=True)
    if quick:
        return problems
    if not parts and not problems:
        figures.write(content)
        continuous.save_curve(all_measurements["intervals"], CURVE)
        pages.rewrite_pages()
    return problems + figures.excess_lines(content["figures"])


def run_check(parts: list[str]) -> list[str]:
    """The quick figures: one line each, and the lines of those above their ceilings."""
    problems = []
    for section in (section for name in parts or whole_run() for section in PARTS[name]):
        entries = figures.check(section) if any(figure.quick for figure in section.figures) else []
        for entry in entries:
            value = "not measured" if entry["value"] is None else f"{entry['value']:g} {entry['unit']}"
            print(f"{entry['name']}: {value}, ceiling {entry['ceiling']:g} {entry['unit']}", flush=True)
        problems += figures.excess_lines(entries) + figures.missing_lines(entries)
    return problems


def main() -> None:
    """Do what the command line says; the exit code is 1 where something failed or is above its ceiling."""
    arguments = parse_arguments()
    if arguments.task:
        section, name, folder = arguments.task
        print(json.dumps(SECTIONS[section].run(name, Path(folder))))
        return
    problems = run_check(arguments.parts) if arguments.check else run_bench(arguments.parts, arguments.quick)
    print("\n".join(problems), file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
