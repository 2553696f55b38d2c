"""How `utmost precision attack` prints and draws its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utmost.precision import Attack

EXAMPLES_PER_SECRET = 5  # results of each secret in the table
CHART_BINS = 24  # intervals of results in the chart


def print_attack_json(attack: Attack, utmost_attack: Attack, name: str) -> None:
    """The attack as one JSON document on stdout."""
    from utmost.cli import output

    output.print_json(
        {
            "sampler": name,
            "secrets": list(attack.secrets),
            "scale": attack.scale,
            "draws": attack.draws,
            "judge": attack.support_test,
            "assumption": attack.assumption,
            "nothing_found": _no_attack_reason(attack),
            "certain": list(attack.certain_counts),
            "success": float(attack.success_probability),
            "epsilon": "inf" if attack.identifies_a_secret else None,
            "utmost": {
                "draws": utmost_attack.draws,
                "certain": list(utmost_attack.certain_counts),
                "success": float(utmost_attack.success_probability),
            },
            "samples": _example_rows(attack),
        }
    )


def _no_attack_reason(attack: Attack) -> str | None:
    """Why nothing was found; None if something was looked for."""
    from utmost.precision.attacks import MIN_DRAWS

    if attack.support_test is not None:
        return None
    if attack.draws < MIN_DRAWS:
        requirement = f"--draws must be at least {MIN_DRAWS} to test what an attack assumes of a sampler"
        return f"{requirement}, so nothing was found; that proves nothing"
    return "no attack here fits this sampler, or fits it by more than chance, so nothing was found; that proves nothing"


def _example_rows(attack: Attack) -> list[dict[str, Any]]:
    half = len(attack.examples) // 2
    examples = attack.examples[:EXAMPLES_PER_SECRET] + attack.examples[half : half + EXAMPLES_PER_SECRET]
    return [{"result": e.result, "drawn_from": e.secret, "possible": list(e.possible)} for e in examples]


def print_attack(attack: Attack, utmost_attack: Attack, name: str) -> None:
    """A table of results and a verdict with what it assumes."""
    from utmost.cli import output

    if attack.support_test is None:
        output.print_text(f"{name}: {_no_attack_reason(attack)}.")
        return
    verdicts = {True: "yes", False: "NO"}
    header = ("result", "drawn from", *(f"possible from {secret:g}" for secret in attack.secrets))
    rows = [
        (f"{r['result']!r}", f"{r['drawn_from']:g}", *(verdicts[p] for p in r["possible"]))
        for r in _example_rows(attack)
    ]
    output.print_table(header, rows)
    certain_percent = 100 * sum(attack.certain_counts) / (2 * attack.draws)
    if attack.identifies_a_secret:
        output.print_text(
            f"{name}: {sum(attack.certain_counts)} of {2 * attack.draws} results ({certain_percent:.1f} %) can come "
            "from one secret only, "
            f"assuming {attack.assumption}, which none of {2 * attack.draws} draws contradicts; if so, ε is infinite, "
            f"and an attacker names the secret {100 * float(attack.success_probability):.1f} % of the time."
        )
    else:
        output.print_text(
            f"{name}: each of {2 * attack.draws} results can come from either secret; this attack finds nothing."
        )
    if name != "utmost":
        output.print_text(
            f"utmost's draws: {sum(utmost_attack.certain_counts)} of {2 * utmost_attack.draws}; each multiple of "
            "1/1024 has a positive chance from either secret."
        )


def draw_attack(attack: Attack, utmost_attack: Attack, name: str, plot: str | None) -> None:
    """The share of results that give their secret away, over the results."""
    from utmost import charts
    from utmost.cli.output import print_remark

    if plot is None:
        return
    low = min(attack.secrets) - 3 * attack.scale
    step = (max(attack.secrets) + 3 * attack.scale - low) / CHART_BINS
    edges = [low + k * step for k in range(CHART_BINS)]
    middle = tuple(edge + step / 2 for edge in edges)
    lines = [
        charts.ChartLine(
            title, middle, tuple(100 * sampler_attack.identified_share(edge, edge + step) for edge in edges)
        )
        for title, sampler_attack in ((name, attack), ("utmost", utmost_attack))
        if sampler_attack.support_test is not None
    ]
    title = "Results that only one of the two secrets can give"
    claim = (
        f"Laplace noise of scale {attack.scale:g} added to {attack.secrets[0]:g} or to {attack.secrets[1]:g}, "
        f"{attack.draws} results of each: what share of the results near a value gives the secret away."
    )
    charts.save_chart(charts.line_chart(lines, title, claim, x="result", y="given away, %"), plot)
    print_remark(f"drew {plot}")
