"""The SQL of a ledger, the same in SQLite and PostgreSQL. The tables' aliases are always l, b, c, q and r."""

from __future__ import annotations

BUDGET_TERMS = "b.name, b.epsilon, b.delta, b.composition, b.unit, b.neighbours, b.remember, b.opened"
PART_COLUMNS = "c.part_column, c.part_value, c.part_kind, c.part_table, c.part_source"
SELECT_BUDGET_CHAINS = f"SELECT b.id, b.opening_hash, b.head_hash, {BUDGET_TERMS} FROM utmost_budgets b ORDER BY b.id"
SELECT_ENTRIES = f"""SELECT c.id, c.entry_hash, c.charged, c.plan, c.fingerprint, {PART_COLUMNS}, c.unit_kind,
    q.query, q.epsilon, q.law, q.steps
    FROM utmost_charges c LEFT JOIN utmost_costs q ON q.charge = c.id
    WHERE c.budget = ? AND c.id > ? ORDER BY c.id, q.place"""
COUNT_ORPHANS = """SELECT count(*) FROM utmost_charges c
    WHERE NOT EXISTS (SELECT 1 FROM utmost_budgets b WHERE b.id = c.budget)"""
SELECT_BUDGET = f"SELECT b.id, b.opening_hash, b.head_hash, {BUDGET_TERMS} FROM utmost_budgets b"
SELECT_LAST_OPENING = "SELECT b.opening_hash FROM utmost_budgets b ORDER BY b.id DESC LIMIT 1"
INSERT_BUDGET = """INSERT INTO utmost_budgets (name, epsilon, delta, composition, unit, neighbours, remember, opened,
    opening_hash, head_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE_HEAD = "UPDATE utmost_budgets SET head_hash = ? WHERE id = ?"
SELECT_CHARGE_GROUPS = f"""SELECT min(q.query), q.epsilon, q.law, q.steps, {PART_COLUMNS}, count(*)
    FROM utmost_charges c LEFT JOIN utmost_costs q ON q.charge = c.id WHERE c.budget = ?
    GROUP BY q.epsilon, q.law, q.steps, {PART_COLUMNS}"""
COUNT_CHARGES = "SELECT count(*) FROM utmost_charges WHERE budget = ?"
SELECT_UNIT_KIND = """SELECT c.unit_kind FROM utmost_charges c WHERE c.budget = ? AND c.unit_kind IS NOT NULL
    ORDER BY c.id LIMIT 1"""
INSERT_CHARGE = """INSERT INTO utmost_charges (budget, entry_hash, charged, plan, fingerprint,
    part_column, part_value, part_kind, part_table, part_source, unit_kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_COST = "INSERT INTO utmost_costs (charge, place, query, epsilon, law, steps) VALUES (?, ?, ?, ?, ?, ?)"
SELECT_HISTORY = f"""SELECT c.id, c.charged, c.plan, c.fingerprint, {PART_COLUMNS}, c.unit_kind, c.entry_hash, r.id,
    q.query, q.epsilon, q.law, q.steps
    FROM utmost_charges c LEFT JOIN utmost_costs q ON q.charge = c.id LEFT JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? ORDER BY c.id, q.place"""
SELECT_CHARGED_BUDGET = """\
SELECT b.id, b.remember, c.fingerprint FROM utmost_charges c JOIN utmost_budgets b ON b.id = c.budget
    WHERE c.id = ?"""
SELECT_RELEASE = """SELECT r.document FROM utmost_charges c JOIN utmost_releases r ON r.charge = c.id
    WHERE c.budget = ? AND c.plan = ? AND c.fingerprint = ? ORDER BY r.id LIMIT 1"""
INSERT_RELEASE = "INSERT INTO utmost_releases (charge, kept, document) VALUES (?, ?, ?)"
