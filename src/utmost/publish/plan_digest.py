"""A fingerprint of a plan: what decides which questions are asked of which data."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from utmost.publish.plan_model import Plan, QuerySpec
from utmost.publish.pricing import CANONICAL, GEOMETRIC
from utmost.queries.keys import key_to_text


def plan_digest(plan: Plan) -> str:
    """A fingerprint of everything that decides what is asked of which data; the same plan has the same one."""
    source, unit, part = plan.source, plan.unit, plan.part
    location = str(plan.folder / source.location)
    content: dict[str, Any] = {
        "source": [location, source.table, source.engine, dict(source.columns)],
        "neighbours": str(plan.neighbours),
        "unit": [unit.column, unit.rows, unit.groups],
        "part": None if part is None else [part.column, key_to_text(part.equals)],
        "queries": [
            [
                query_spec.name,
                query_spec.query.kind,
                str(query_spec.epsilon),
                query_spec.query.where,
                query_spec.query.content(),
                *_noise_digest(query_spec),
            ]
            for query_spec in plan.queries
        ],
    }
    if plan.tables:
        content["tables"] = [table.table.content() for table in plan.tables]
    if source.data is not None:
        content["frame"] = source.name
    if source.derive:
        content["derive"] = dict(source.derive)
    if source.missing:
        content["missing"] = {name: list(markers) for name, markers in source.missing.items()}
    if source.lookups:
        content["lookups"] = [
            [
                lookup.fingerprint(plan.folder),
                list(lookup.on.items()),
                list(lookup.take.items()),
                dict(lookup.columns),
                {name: list(markers) for name, markers in lookup.missing.items()},
            ]
            for lookup in source.lookups
        ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _noise_digest(query_spec: QuerySpec) -> list[str]:
    """What decides the noise of a query beside its ε, in a digest: ρ of Gaussian noise, δ of canonical noise."""
    if query_spec.noise == GEOMETRIC:
        return []
    amount = query_spec.noise_delta if query_spec.noise == CANONICAL else query_spec.rho
    return [query_spec.noise, str(amount)]
