#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes tests/unit/model/cron_cases.inc: when cron rules come, by a second opinion.

Nothing of Holdfast is in it: every minute of ten years is looked at, in its order, and the
zone is python's own reading of a POSIX rule, which needs no zone files.  Once is enough, but
for new cases:

    python3 tests/lib/cron_oracle.py > tests/unit/model/cron_cases.inc
"""
import collections
import datetime
import io
import random
import struct
import zoneinfo

YEARS, MOST, CASES = 10, 4000, 200  # of a rule that comes often only the first are looked at
QUARTER_S, DAY_S = 900, 86400
UTC = datetime.timezone.utc

ZONES = {
    "UTC": "UTC0",
    "Shanghai": "CST-8",
    "Kathmandu": "<+0545>-5:45",
    "Berlin": "CET-1CEST,M3.5.0,M10.5.0/3",
    "London": "GMT0BST,M3.5.0/1,M10.5.0",
    "New York": "EST5EDT,M3.2.0,M11.1.0",
    "Havana": "CST5CDT,M3.2.0/0,M11.1.0/1",
    "Azores": "<-01>1<+00>,M3.5.0/0,M10.5.0/1",
    "Santiago": "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
    "Lord Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "Auckland": "NZST-12NZDT,M9.5.0,M4.1.0/3",
    "Adelaide": "ACST-9:30ACDT,M10.1.0,M4.1.0/3",
}

RULES = """
30 2 * * *|0 2 * * *|15 1 * * *|45 0 * * *|0 0 * * *|59 23 * * *|0 3 * * *|0,30 2 * * *|*/20 1,2 * * *|* 2 * * *
5 * * * *|*/15 * * * *|*/30 * * * *|59 * * * *|0 */2 * * *|30 */3 * * *|*/7 */5 * * *|15 */24 25 10 *|0 */23 * * *
* * * * *|1-59/2 0-3 * 3,10,11 *|*/10 2 * mar,oct sun|0 0 29 2 *|0 12 29 feb *|30 2 29 2 *|0 0 31 * *|0 0 30 * *
0 0 1,15 * 1|0 0 13 * 5|0 0 */2 * 1|0 0 1-7 * */2|0 4 8-14 * *|0 9-17/2 * * mon-fri|0 22 * * 1-5|23 0-20/2 * * *
0 3 * * sun|0 3 * * 7|30 1 25-31 10 sun|0 0 30 4,6,9,11 *|59 23 31 12 *|0 0 1 1 *|0 12 * * fri-sun|0 6 * 1-6/2 SAT
@hourly|@daily|@midnight|@weekly|@monthly|@yearly|@annually
""".replace("\n", "|").strip("|").split("|")

NAMES = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
         "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()
FIELDS = [(0, 59, []), (0, 23, []), (1, 31, []), (1, 12, MONTHS), (0, 7, WEEKDAYS)]


def zone(rule):
    head = b"TZif2" + bytes(15) + struct.pack(">6l", 0, 0, 0, 0, 1, 4) + struct.pack(">lbb", 0, 0, 0) + b"LMT\0"
    return zoneinfo.ZoneInfo.from_file(io.BytesIO(head + head + b"\n" + rule.encode() + b"\n"), key=rule)


def values(text, low, high, names):
    found = set()
    for item in text.lower().split(","):
        span, _, step = item.partition("/")
        first, _, last = (f"{low}-{high}" if span == "*" else span).partition("-")
        first, last = (names.index(x) + low if x in names else int(x) for x in (first, last or first))
        found |= set(range(first, (7 if names is WEEKDAYS and first > last == 0 else last) + 1, int(step or 1)))
    return found


class Rule:
    def __init__(self, text):
        texts = NAMES.get(text, text).split()
        self.minutes, self.hours, self.days, self.months, weekdays = (
            values(t, *field) for t, field in zip(texts, FIELDS))
        self.weekdays = {d % 7 for d in weekdays}
        self.hourly = texts[1][0] == "*"
        self.either = texts[2][0] != "*" and texts[4][0] != "*"
        self.known = {}

    def fits_day(self, day):
        if day not in self.known:
            date = datetime.date(1970, 1, 1) + datetime.timedelta(day)
            by_day, by_weekday = date.day in self.days, date.isoweekday() % 7 in self.weekdays
            self.known[day] = date.month in self.months and (
                by_day or by_weekday if self.either else by_day and by_weekday)
        return self.known[day]

    def fits(self, shown):
        """Seconds since 1970 as a clock on the wall shows them."""
        return (shown // 60 % 60 in self.minutes and shown // 3600 % 24 in self.hours
                and self.fits_day(shown // DAY_S))


Quarter = collections.namedtuple("Quarter", "offset again")
quarters = {}


def quarter(tz, at):
    key = tz.key, at
    if key not in quarters:
        local = datetime.datetime.fromtimestamp(at, tz)
        quarters[key] = Quarter(int(local.utcoffset().total_seconds()), local.fold == 1)
    return quarters[key]


def times(rule, tz, after, until):
    """Minute by minute, by the written rule for clocks that are set forward and back."""
    for start in range(after - after % QUARTER_S, until, QUARTER_S):
        now, before = quarter(tz, start), quarter(tz, start - QUARTER_S)
        left_out = range(start + before.offset, start + now.offset, 60)
        if not rule.hourly and after < start and any(map(rule.fits, left_out)):
            if not rule.fits(start + now.offset):
                yield start
        if not rule.fits_day((start + now.offset) // DAY_S):
            continue
        for at in range(start, start + QUARTER_S, 60):
            if after < at < until and rule.fits(at + now.offset) and (rule.hourly or not now.again):
                yield at


def fnv(numbers):
    h = 0xcbf29ce484222325
    for n in numbers:
        for byte in n.to_bytes(8, "little", signed=True):
            h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


def random_rule(rng):
    def field(low, high, plain):
        kind = rng.choice(plain)
        a, b = sorted(rng.randint(low, high) for _ in range(2))
        return {"*": "*", "n": str(a), "a-b": f"{a}-{b}", "*/n": f"*/{rng.randint(2, 9) if high > 7 else 2}",
                "a-b/n": f"{a}-{b}/{rng.randint(1, 3)}", "a,b": f"{a},{b}"}[kind]
    return " ".join((field(0, 59, ["n", "n", "a,b", "*/n"]), field(0, 23, ["n", "*", "a-b", "*/n", "a,b"]),
                     field(1, 28, ["*", "*", "*", "n", "a-b", "*/n"]), field(1, 12, ["*", "*", "*", "a,b", "a-b/n"]),
                     field(0, 6, ["*", "*", "n", "a-b", "*/n"])))


def year(n, month=1, day=1):
    return int(datetime.datetime(n, month, day, tzinfo=UTC).timestamp())


def cases():
    rng, names = random.Random(5), list(ZONES)
    for i in range(CASES):
        rule = RULES[i] if i < len(RULES) else rng.choice(RULES) if i < 120 else random_rule(rng)
        begin = rng.choice([year(1970), year(2090)]) if i % 20 == 19 else year(2026, rng.choice([1, 3, 10, 11]))
        yield rule, names[i % len(names)], begin + rng.randrange(30 * DAY_S)


def main():
    print("/* SPDX-License-Identifier: MIT */")
    print("/* Made by tests/lib/cron_oracle.py: rule, zone, after, until; how many come, FNV-1a of their")
    print(" * times as eight bytes each, the first and the last. */")
    for rule, name, after in cases():
        until = after + YEARS * 365 * DAY_S
        tz, found = zone(ZONES[name]), []
        for at in times(Rule(rule), tz, after, until):
            found.append(at)
            if len(found) == MOST:
                until = at + 1
                break
        first, last = (found[0], found[-1]) if found else (0, 0)
        print(f'{{ "{rule}", "{ZONES[name]}", {after}, {until}, {len(found)}, UINT64_C(0x{fnv(found):016x}), '
              f"{first}, {last} }}, /* {name} */")


if __name__ == "__main__":
    main()
