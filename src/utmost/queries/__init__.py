"""Queries: one module for each kind, and everything about it: plan keys, checks, sensitivity, mechanism, exact answer,
error, claim and JSON. `registry` lists the kinds; `answer_mechanisms` has the mechanisms that answer them.
"""

from utmost.queries.count import Count
from utmost.queries.distinct import Distinct
from utmost.queries.extremes import Max, Min
from utmost.queries.grouped import GroupedQuery
from utmost.queries.histogram import Histogram
from utmost.queries.mean import Mean
from utmost.queries.over import Over
from utmost.queries.quantile import Quantile
from utmost.queries.quantiles import Quantiles
from utmost.queries.query import Query
from utmost.queries.sum import Sum
from utmost.queries.top import Top
from utmost.queries.variance import Variance

__all__ = [
    "Count",
    "Distinct",
    "GroupedQuery",
    "Histogram",
    "Max",
    "Mean",
    "Min",
    "Over",
    "Quantile",
    "Quantiles",
    "Query",
    "Sum",
    "Top",
    "Variance",
]
