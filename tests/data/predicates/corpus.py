"""Rows of ends and oddities, and predicates that need every rule of the language: the same on every engine."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from data.predicates.strategies import COMMON_SORTS, single

INF, NAN = float("inf"), float("nan")
NOON = datetime(2020, 1, 31, 12)
BIGGEST, SMALLEST = 2**63 - 1, -(2**63)
LARGEST = 1.7976931348623157e308


def row(*columns: Any) -> dict[str, Any]:
    return dict(zip(COMMON_SORTS, columns, strict=True))


ROWS = [
    row(*[None] * len(COMMON_SORTS)),
    row(
        *(127, 2**31 - 1, BIGGEST, BIGGEST, Decimal("99999999.99"), Decimal(10**18 - 1), Decimal("0.999999")),
        *(LARGEST, INF, single(3.4028234663852886e38), "north", "${env:HOME}", True),
        *(date.max, date(2020, 1, 31), datetime.max, datetime.max),
    ),
    row(
        *(-128, -(2**31), SMALLEST, BIGGEST, Decimal("-99999999.99"), Decimal(1) - 10**18, Decimal("-0.999999")),
        *(-LARGEST, -INF, -INF, "O'Neill", "a\\", False),
        *(date.min, date.min, datetime.min, datetime.min),
    ),
    row(
        *(0, 0, 0, 0, Decimal("0.00"), Decimal(0), Decimal("0.100000")),
        *(NAN, -0.0, NAN, "", "", False),
        *(date(1970, 1, 1), date(2020, 2, 29), datetime(1970, 1, 1), NOON),
    ),
    row(
        *(3, 65, 2**53 + 1, -3, Decimal("1.25"), Decimal("0.1"), Decimal("0.000001")),
        *(0.1, float(2**53), single(0.1), "North", "north", True),
        *(date(2020, 1, 31), date(2020, 1, 31), NOON, NOON.replace(microsecond=1)),
    ),
    row(
        *(1, 1, 1, 2, Decimal("0.10"), Decimal("1e-20"), Decimal("0.333333")),
        *(5e-324, 1e-200, single(1e-45), "é", "\t'\"`\n", None),
        *(date(1999, 12, 31), None, datetime(2020, 1, 31, 11, 59, 59, 999999), None),
    ),
    row(*(5, None, None, 7, None, Decimal(2), None), *(None, 2.5, 2.5, None, "é", True), *(None, date.max, None, NOON)),
]

# One to a line.
PREDICATES = """
small > 0.5
small >= 0.5
small < 0.5
small = 0.5
small != 0.5
small < 1000
small > 1000
small = 1e30
not small < 3
not small <= 3
not small > 3
not small >= 3
not small = 3
not small != 3
middle between 0.5 and 65
middle not between 0.5 and 65
middle in (1, 65, 2.5, 1e400)
middle not in (1, 65)
big = 9223372036854775807
big > 9223372036854775806.5
big < -9223372036854775807
big = 9223372036854775808
big + big > 0
big - "other big" < 0
big * "other big" > 0
-big > 0
big * big > 1e37
big + 1 > big
(big * 0 + small) is null
middle * (big * 0) = 0
middle * (2 * middle) * 0 + big * 0 != 0
small * small + middle * small - 3 > small
0.1 * big > 1
big = "other big"
small < big
small in (big, middle, 3)
price = 1.25
price > 1.249
price < 1e30
price in (1.25, 0.1, 0.001)
price * price > price
price > small
price + share > 1
price - 1.250 = 0
price is null
(price + big) is null
not price > 1
share * share < 0.1
share * 3 = 0.3
ratio > 0.09999999999999999999
ratio = 1e-20
ratio = ratio
double = 0.1
double > 0.1
double <= 0.1
double = double
double != double
double is null
double > 1e400
double < -1e400
double > 1e-400
double in (0.1, 1e308, 5e-324)
double > big
double > single
double > price
"other double" < share
double * price > price
share * "other double" <= single
double < big * 1e-7
"other double" + small * 0.1 > 2
"other double" = big
"other double" <= big
double * double > 0
double + "other double" < 1e300
-double < 0
double * 1e-30 >= 0
double * big >= 0
double - double = 0
(double * "other double") is null
double < "other double"
single = 0.1
single > 0.1
single < 0.1
single < 3.5e38
single > 3.5e38
single + 0 = 0.1
single in (0.1)
single = 1e-45
name = 'north'
name != 'north'
name in ('north', 'O''Neill', '')
name not in ('north')
name = ''
name = 'é'
"odd ""name""; --" = '${env:HOME}'
"odd ""name""; --" = 'a\\'
name = "odd ""name""; --"
name is not null
flag
not flag
flag = true
flag != false
flag in (true)
flag in ((small > 0), (name = 'é'))
flag in ((flag in ((small > 0), false)), (small < 0))
not flag in (false, flag)
name in ("odd ""name""; --", 'north')
day in ("other day", date '1970-01-01')
small in (0, 0.0, 3, 1e-400)
"other double" in (0, 2.5, 1e400)
double * 0 in (0)
(double * 0 + small) in (3, price, 127.0)
flag = (small > 0)
(flag is null) = (name = 'é')
(not flag) is null
(flag and small > 0) is null
(flag or small > 0) is null
(small in (1, 3)) = flag
true in ((small > 0), flag)
not (small in (1, 3)) = flag
true in ((small > 0), flag)
(name is null) is null
not not flag
true
false
true and flag
flag or true
1 < 2
day > date '2020-01-31'
day = date '9999-12-31'
day <= date '0001-01-01'
day in (date '2020-01-31')
day = "other day"
day between date '1970-01-01' and date '2020-01-31'
day != date '2020-01-31'
moment = time '2020-01-31 12:00:00'
moment < time '2020-01-31 12:00:00'
moment >= time '9999-12-31 23:59:59.999999'
instant > time '2020-01-31 12:00:00'
instant <= time '0001-01-01 00:00:00'
instant in (time '2020-01-31 12:00')
day is null or (small > 0 and not flag) or name = 'é'
not (small > 0 or flag) and price < 0
small > 0 and not (flag = flag)
bin(small, 10) = -10
bin(big, 1000) >= 0
bin(big * 2, 7) is null
bin(price, 0.5) = 1
bin(small, 0.25) = 3
bin(double, 0.1) >= 0
bin("other double", 2) = 2
bin(single, 0.5) <= 2.5
bin(share, 0.1) = 0.1
big // 7 < 0
big div 9223372036854775807 = -2
small // 2 * 2 = small
price // 0.1 = 12
double // 3 = 0
"other double" // 1 = 2
middle // 0.3 > 10
abs(small) = 128
abs(big) > 9223372036854775807
abs(double) > 1
abs(single) = 0.1
abs(price) = 1.25
abs(-3) = 3
least(small, big, 3) = 3
greatest(price, small, 0) = 3
least(double, small, 1) <= 0.1
greatest("other double", single) > 2
greatest(day, "other day", date '2000-01-01') = "other day"
least(moment, time '2020-01-31 11:00') = time '2020-01-31 11:00'
coalesce(middle, small) = 5
coalesce(price, 0) = 0
coalesce(double, small, 0.5) = 5
coalesce(name, "odd ""name""; --", 'none') = 'é'
coalesce(flag, false)
not coalesce(flag, small > 0)
coalesce(day, date '2020-01-01') = date '2020-01-01'
coalesce(moment, time '2020-01-01 00:00') <= time '2020-01-01 00:00'
coalesce(1, 2) = 1
year(day) = 9999
year(moment) = 1
month(instant) in (1, 12)
day(day) = 31
weekday(day) >= 6
weekday(date '2020-01-31') = 5
weekday(instant) = 1
hour(moment) = 23
hour(instant) between 0 and 12
hour(time '2020-01-31 12:34') = 12
year(day) // 10 * 10 = 2020
lower(name) = 'north'
upper(name) in ('NORTH', 'É', 'O''NEILL')
prefix(trim("odd ""name""; --"), 1) = ''''
prefix(name, 1) in ('n', 'é')
prefix(lower(name), 2) = 'no'
prefix(name, 1000000) = name
case when small > 0 then 1 when small < 0 then -1 else 0 end = 0
case when small > 0 then price else 0.5 end > 0.6
case when flag then double else small end >= 0
case when flag then name else 'none' end != 'none'
case when day is null then date '2020-01-01' else day end = date '2020-01-01'
case when small > 0 then flag end
case when small > 0 then flag end is null
case when flag then moment else time '2020-01-31 12:00' end = time '2020-01-31 12:00'
'odd' = case when small // 2 * 2 = small then 'even' else 'odd' end
""".strip().splitlines()
