"""Draws what tools/lab/bench/dmoe measured: throughput against delay on the left,
accuracy against updates in the middle, and how long a search for experts takes
in networks of three sizes on the right."""

import math

from svg_text import text

WIDTH, HEIGHT, LEFT, TOP, GAP = 320, 220, 60, 50, 90
COLOURS = ["#e7298a", "#1b9e77", "#7570b3", "#d95f02", "#66a61e"]


def panel(left, title, below, curves, limits):
    """Curves as (name, [(x, y)]), in a frame from 0 to the limits."""
    most_x, least_y, most_y = limits
    base = TOP + HEIGHT

    def place(x, y):
        return (left + WIDTH * x / most_x,
                base - HEIGHT * (y - least_y) / (most_y - least_y))

    out = ['<rect x="%d" y="%d" width="%d" height="%d" fill="none" '
           'stroke="#999"/>' % (left, TOP, WIDTH, HEIGHT),
           text(left + WIDTH / 2, TOP - 14, title, 14),
           text(left + WIDTH / 2, base + 34, below)]
    for part in range(5):
        y = least_y + (most_y - least_y) * part / 4
        out.append(text(left - 6, place(0, y)[1] + 4, "%.2f" % y, 11, "end"))
        x = most_x * part / 4
        out.append(text(place(x, 0)[0], base + 16, "%d" % x, 11))
    for i, (name, points) in enumerate(curves):
        line = " ".join("%.1f,%.1f" % place(x, max(least_y, y))
                        for x, y in points)
        out.append('<polyline points="%s" fill="none" stroke="%s" '
                   'stroke-width="2"/>' % (line, COLOURS[i]))
        out.append(text(left + WIDTH - 8, base - 12 - 16 * i, name, 12, "end")
                   .replace("<text", '<text fill="%s"' % COLOURS[i]))
    return out


def picture(result):
    delays = result["delay"]
    throughput = [
        (kind, [(x["mean_delay_ms"], x[kind + "_ratio"]) for x in delays])
        for kind in ("mixture", "pipeline")]
    highest = max(y for _, points in throughput for _, y in points)
    learning = [(x["network"],
                 [(p["update"], p["accuracy"]) for p in x["curve"]])
                for x in result["digits"]]
    updates = max(p[0] for _, points in learning for p in points)
    second = LEFT + WIDTH + GAP
    third = second + WIDTH + GAP
    searches = {}
    for x in result["beam"]:
        name = "%s, %.0f %% failed" % (x["grid"], 100 * x["failed"])
        searches.setdefault(name, []).append(
            (math.log10(x["nodes"]), x["cold"]["median_ms"] / 1000))
    slowest = max(y for points in searches.values() for _, y in points)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'font-family="sans-serif">'
           % (third + WIDTH + 30, TOP + HEIGHT + 50),
           '<rect width="100%" height="100%" fill="white"/>']
    out += panel(LEFT, "Throughput, of that at 0 ms", "mean delay of a call, ms",
                 throughput, (delays[-1]["mean_delay_ms"], 0,
                              max(1.0, highest)))
    out += panel(second, "Accuracy on digits not seen", "updates", learning,
                 (updates, 0.5, 1))
    out += panel(third, "Median of a search, seconds", "nodes, powers of ten",
                 sorted(searches.items()), (4, 0, slowest))
    return "\n".join(out + ["</svg>"])
