"""Draws what tools/lab/bench/growth measured: seconds of a round against megabytes,
a line for each number of peers, and their ratio to gloo's below."""

import math

from svg_text import text

COLOURS = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#a6761d")
LEFT, RIGHT, TOP, GAP = 70, 120, 46, 56
WIDTH, TALL, SHORT = 460, 260, 150


def line(points, colour, dashed=False):
    return ('<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>'
            % (colour, ' stroke-dasharray="5 4"' if dashed else "",
               " ".join("%.1f,%.1f" % p for p in points)))


class panel:
    """Logarithmic both ways."""

    def __init__(self, top, height, xs, ys):
        self.top, self.height = top, height
        self.x0, self.x1 = math.log10(min(xs)), math.log10(max(xs))
        self.y0, self.y1 = math.log10(min(ys)), math.log10(max(ys))
        self.x1 = max(self.x1, self.x0 + 0.1)
        self.y1 = max(self.y1, self.y0 + 0.1)

    def at(self, x, y):
        right = (math.log10(x) - self.x0) / (self.x1 - self.x0)
        up = (math.log10(y) - self.y0) / (self.y1 - self.y0)
        return LEFT + WIDTH * right, self.top + self.height * (1 - up)

    def grid(self, xs, ys, label):
        result = []
        for x in xs:
            at = self.at(x, 10 ** self.y0)
            result.append('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" '
                          'stroke="#ddd"/>' % (at[0], at[0], self.top, at[1]))
            result.append(text(at[0], at[1] + 16, "%g MB" % x))
        for y in ys:
            at = self.at(10 ** self.x0, y)
            result.append('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" '
                          'stroke="#ddd"/>' % (LEFT, LEFT + WIDTH, at[1], at[1]))
            result.append(text(LEFT - 6, at[1] + 4, label % y, anchor="end"))
        return result


def powers(low, high, base):
    first = math.floor(math.log(low, base) + 1e-9)
    last = math.ceil(math.log(high, base) - 1e-9)
    return [float(base) ** i for i in range(first, last + 1)]


def picture(rows):
    sizes = sorted({x["megabytes"] for x in rows})
    peers = sorted({x["peers"] for x in rows})
    seconds = powers(min(min(x["seconds_median"], x["alone"]) for x in rows),
                     max(max(x["seconds_median"], x["alone"]) for x in rows), 10)
    ratios = powers(min(1, min(x["ratio"] for x in rows)),
                    max(1, max(x["ratio"] for x in rows)), 2)
    upper = panel(TOP, TALL, sizes, seconds)
    lower = panel(TOP + TALL + GAP, SHORT, sizes, ratios)
    width, height = LEFT + WIDTH + RIGHT, TOP + TALL + GAP + SHORT + 30
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'font-family="sans-serif">' % (width, height),
           '<rect width="100%" height="100%" fill="white"/>',
           text(LEFT + WIDTH / 2, 20, "A round of averaging, all peers on one "
                "machine, seconds", size=15),
           text(LEFT + WIDTH / 2, 36, "dashed: each with a processor and 1 Gbit/s "
                "of its own (64, 2 peers)"),
           text(LEFT + WIDTH / 2, TOP + TALL + GAP - 10, "times gloo's", size=15)]
    out += upper.grid(sizes, seconds, "%g s")
    out += lower.grid(sizes, ratios, "%g")
    for i, n in enumerate(peers):
        colour = COLOURS[i % len(COLOURS)]
        mine = [x for x in rows if x["peers"] == n]
        points = [upper.at(x["megabytes"], x["seconds_median"]) for x in mine]
        out.append(line(points, colour))
        out.append(line([lower.at(x["megabytes"], x["ratio"]) for x in mine],
                        colour))
        if n in (peers[0], peers[-1]):
            out.append(line([upper.at(x["megabytes"], x["alone"]) for x in mine],
                            colour, dashed=True))
        out.append(text(points[-1][0] + 8, points[-1][1] + 4, "%d peers" % n,
                        anchor="start"))
    return "\n".join(out) + "\n</svg>\n"
