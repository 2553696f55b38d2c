"""How `utmost precision attack` shows what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.precision import Attack

SHOWN = 5  # results of each secret in the table
BINS = 24  # of the picture


def attack_document(found: Attack, ours: Attack, name: str) -> None:
    """One JSON document."""
    from utmost.cli import output

    output.print_json(
        {
            "sampler": name,
            "secrets": list(found.secrets),
            "scale": found.scale,
            "draws": found.draws,
            "judge": found.judge,
            "assumption": found.assumption,
            "nothing_found": _silence(found),
            "certain": list(found.certain),
            "success": float(found.success),
            "epsilon": "inf" if found.leaks else None,
            "utmost": {"draws": ours.draws, "certain": list(ours.certain), "success": float(ours.success)},
            "samples": _rows(found),
        }
    )


def _silence(found: Attack) -> str | None:
    """Why nothing was found; None if something was looked for."""
    from utmost.precision.attacks import LEAST_DRAWS

    if found.judge is not None:
        return None
    if found.draws < LEAST_DRAWS:
        few = f"--draws must be at least {LEAST_DRAWS} to test what an attack assumes of a sampler"
        return f"{few}, so nothing was found; that proves nothing"
    return "no attack here fits this sampler, or fits it by more than chance, so nothing was found; that proves nothing"


def _rows(found: Attack) -> list[dict[str, Any]]:
    half = len(found.examples) // 2
    chosen = found.examples[:SHOWN] + found.examples[half : half + SHOWN]
    return [{"result": e.result, "drawn_from": e.drawn_from, "possible": list(e.possible)} for e in chosen]


def print_attack(found: Attack, ours: Attack, name: str) -> None:
    """A table of results and a verdict with what it assumes."""
    from utmost.cli import output

    if found.judge is None:
        output.print_text(f"{name}: {_silence(found)}.")
        return
    words = {True: "yes", False: "NO"}
    header = ("result", "drawn from", *(f"possible from {secret:g}" for secret in found.secrets))
    rows = [(f"{r['result']!r}", f"{r['drawn_from']:g}", *(words[p] for p in r["possible"])) for r in _rows(found)]
    output.print_table(header, rows)
    sure = 100 * sum(found.certain) / (2 * found.draws)
    if found.leaks:
        output.print_text(
            f"{name}: {sum(found.certain)} of {2 * found.draws} results ({sure:.1f} %) can come from one secret only, "
            f"assuming {found.assumption}, which none of {2 * found.draws} draws contradicts; if so, ε is infinite, "
            f"and an attacker names the secret {100 * float(found.success):.1f} % of the time."
        )
    else:
        output.print_text(
            f"{name}: each of {2 * found.draws} results can come from either secret; this attack finds nothing."
        )
    if name != "utmost":
        output.print_text(
            f"utmost's draws: {sum(ours.certain)} of {2 * ours.draws}; each multiple of 1/1024 has a positive "
            "chance from either secret."
        )


def draw_attack(found: Attack, ours: Attack, name: str, plot: str | None) -> None:
    """The share of results that give their secret away, over the results."""
    from utmost import charts
    from utmost.cli.output import print_remark

    if plot is None:
        return
    low = min(found.secrets) - 3 * found.scale
    step = (max(found.secrets) + 3 * found.scale - low) / BINS
    edges = [low + k * step for k in range(BINS)]
    middle = tuple(edge + step / 2 for edge in edges)
    lines = [
        charts.ChartLine(title, middle, tuple(100 * made.share(edge, edge + step) for edge in edges))
        for title, made in ((name, found), ("utmost", ours))
        if made.judge is not None
    ]
    title = "Results that only one of the two secrets can give"
    claim = (
        f"Laplace noise of scale {found.scale:g} added to {found.secrets[0]:g} or to {found.secrets[1]:g}, "
        f"{found.draws} results of each: what share of the results near a value gives the secret away."
    )
    charts.save_chart(charts.line_chart(lines, title, claim, x="result", y="given away, %"), plot)
    print_remark(f"drew {plot}")
