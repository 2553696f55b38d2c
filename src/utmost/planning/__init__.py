"""Planning: shares of the levels of a table, and strategies side by side with what no strategy can do better."""

from utmost.planning.strategies import Strategy, StrategyComparison, compare_strategies

__all__ = ["Strategy", "StrategyComparison", "compare_strategies"]
