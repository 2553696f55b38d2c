"""From Python: a table in one call, its plan in a method call a query, a budget in one line.

A program writes what a plan's file says, and both become the same `publish.plans.Plan`: everything below this package
knows plans alone.
"""

from utmost.publish.builder.budgets import NamedBudget, budget
from utmost.publish.builder.plan_builder import PlanBuilder, read_plan
from utmost.publish.builder.runs import preview, release
from utmost.publish.builder.tables import ProtectedTable, table

__all__ = ["NamedBudget", "PlanBuilder", "ProtectedTable", "budget", "preview", "read_plan", "release", "table"]
