"""The other half of tools/lab/bench/strategies: real trainers of a small ALBERT in
an emulated network, which measure their lines themselves. Throughput in samples
per second, once the first steps have shown the lines, and the time to a loss
that all rows reach."""

import json
import statistics

# Mbit/s: 4 x 200, 8 x 100 and 4 x 50 Mbit/s of DeDLOC's comparison, half as many
# and scaled. Averaging takes longer than computing.
SLOW, MIDDLE, FAST, HELPER = 4, 8, 16, 32
UNEQUAL = [("fast", 2, FAST), ("middle", 4, MIDDLE), ("slow", 2, SLOW)]
EQUAL = [("home", 8, 9)]  # As much in all.
BATCH = 256
STEPS = 1000  # More than the time is enough for.
SECONDS = 190
# Until then all lines are fast: nobody has to download the others' state over a
# slow one, and the run is founded by all.
AGREED = 40
EASY = 50
# Rounds of all trainers in which lines become known.
FIRST_STEPS = 2
DATA = "/usr/share/common-licenses"

# Name, trainers' hosts, shares, auxiliary peers, part-time trainers.
ROWS = [
    ("equal lines", EQUAL, "planned", 0, 0),
    ("unequal, equal shares", UNEQUAL, "all-reduce", 0, 0),
    ("unequal, planned", UNEQUAL, "planned", 0, 0),
    ("unequal, auxiliary", UNEQUAL, "planned", 1, 0),
    ("unequal, part-time", UNEQUAL, "planned", 1, 2),
    ("equal, auxiliary", EQUAL, "planned", 1, 0),
]
# A row, the row that it is compared with, and how many times its throughput it
# has at least. Between unequal lines the slow ones' own gradients are the limit
# of the published problem with and without a helper: it has to cost nothing
# there, but for noise. Between equal ones (1 + 6/8) P / u becomes 1.31 P / u.
GOALS = [
    ("unequal, planned", "unequal, equal shares", 1.4),
    ("unequal, auxiliary", "unequal, planned", 0.97),
    ("equal, auxiliary", "equal lines", 1.1),
]


def host(name, count, rate):
    line = "%gmbit" % rate
    return {"name": name, "count": count, "upload": line, "download": line,
            "delay": "10ms", "queue": "250ms"}


def later(name, rate):
    line = "%gmbit" % rate
    return {"at": "%ds" % AGREED, "host": name, "upload": line,
            "download": line}


def description(trainers, shares, auxiliaries, part_time):
    common = ["{network:7000}", "--peer={address:seed}:7000",
              "--identity-dir={dir}", "--log-json={log}", "--threads=1"]
    words = ["potluck", "join", "--config-file=/dev/null", *common,
             "--data=" + DATA, "--shares=" + shares, "--steps=%d" % STEPS,
             "--target-batch=%d" % BATCH, "--micro-batch=4",
             "--chunk-values=8192", "--packing=float32",
             "--warmup-steps=20", "--learning-rate=0.01"]
    hosts = [{"name": "seed", "upload": "50mbit", "delay": "5ms"}]
    commands = [{"host": "seed", "serve": True, "words":
                 ["potluck", "bootstrap", "{network:7000}",
                  "--identity-dir={dir}", "--log-json={log}"]}]
    changes = []
    for name, count, rate in trainers:
        hosts.append(host(name, count, EASY))
        changes.append(later(name, rate))
        commands.append({"host": name, "starts_at": "1s", "words": words})
    if auxiliaries:
        hosts.append(host("helper", 1, HELPER))
        commands.append({"host": "helper", "starts_at": "1s", "serve": True,
                         "words": ["potluck", "join",
                                   "--config-file=/dev/null", *common,
                                   "--role=auxiliary"]})
    for i in range(part_time):
        hosts.append(host("guest%d" % i, 1, FAST))
        hosts[-1].pop("count")
        commands.append({"host": "guest%d" % i, "words": words, "signal":
                         "int", "starts_at": "%ds" % (AGREED + 10 * i),
                         "ends_at": "%ds" % (AGREED + 90 + 10 * i)})
    return {"lasts": "%ds" % SECONDS, "hosts": hosts, "changes": changes,
            "commands": commands}


def figures(folder, trainers):
    """Of the first trainer's log, since all train together. None where they
    hardly did."""
    name, count, _ = trainers[0]
    together = sum(x[1] for x in trainers)
    log = folder / "out" / ("%s-1.jsonl" % name if count > 1 else
                            "%s.jsonl" % name)
    events = [json.loads(x) for x in log.read_text().splitlines()]
    slow_from = events[0]["time"] + AGREED - 1  # It started at 1 s.
    steps = [x for x in events if x["event"] == "step"
             and x["time"] > slow_from]
    losses = [x["loss"] for x in steps]
    curve = [(x["time"] - slow_from, statistics.mean(losses[i - 4:i + 1]))
             for i, x in enumerate(steps) if i >= 4]
    full = [i for i, x in enumerate(steps) if x["peers"] >= together]
    if len(full) < FIRST_STEPS + 3:
        return None
    steps = steps[full[FIRST_STEPS - 1]:]
    rounds = [x["seconds"] for x in events if x["event"] == "round"
              and x["step"] > steps[0]["step"] and x["outcome"] == "committed"]
    plans = [x for x in events if x["event"] == "plan"]
    seconds = steps[-1]["time"] - steps[0]["time"]
    return {
        "samples_per_second": sum(x["samples"] for x in steps[1:]) / seconds,
        "averaging": statistics.median(rounds),
        "predicted": plans[-1]["predicted_seconds"],
        "strategy": plans[-1]["strategy"],
        "curve": curve,
    }


def seconds_to(loss, row):
    """Since lines became what they are; None where it is not reached."""
    return next((at for at, is_ in row["curve"] if is_ <= loss), None)


def common_loss(rows):
    """The lowest that all rows with figures reach."""
    lowest = [min(is_ for _, is_ in x["curve"]) for x in rows.values() if x]
    return max(lowest) if lowest else None


def verdicts(rows):
    """Whether each goal was met, and a sentence."""
    def ratio(what, to):
        if rows.get(what) is None or rows.get(to) is None:
            return None
        return rows[what]["samples_per_second"] / rows[to]["samples_per_second"]
    result = []
    for what, to, least in GOALS:
        if what not in rows or to not in rows:
            continue
        is_ = ratio(what, to)
        if is_ is None:
            result.append((False, "%s: no figures." % what))
        else:
            result.append((is_ >= least,
                           "%s: %.2f times the throughput of %s; goal %.2f%s" %
                           (what, is_, to, least, "" if is_ >= least else
                            ", missed by %.1f %%" % (100 * (1 - is_ / least)))))
    return result
