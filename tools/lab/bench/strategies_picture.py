"""Draws what tools/lab/bench/strategies measured: a panel a row, a bar a strategy,
the prediction as a mark on it, and the lower bound as a line across; below, the
training rows, a bar each."""

from svg_text import text

COLOURS = {"all-reduce": "#8da0cb", "parameter-server": "#fc8d62",
           "planned": "#66c2a5", "planned, measured": "#1b9e77"}
PANEL, HEIGHT, TOP, BOTTOM, LEFT = 200, 220, 60, 40, 16


def bars(left, row, rules):
    """One panel; all heights on a scale of its own."""
    largest = max(row[x]["seconds"] for x in rules)
    scale = HEIGHT / largest
    base = TOP + HEIGHT
    width = (PANEL - 2 * LEFT) / len(rules)
    result = []
    for i, rule in enumerate(rules):
        x = left + LEFT + i * width
        tall = row[rule]["seconds"] * scale
        result.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" '
                      'fill="%s"/>' % (x + 4, base - tall, width - 8, tall,
                                       COLOURS[rule]))
        result.append(text(x + width / 2, base - tall - 5,
                           "%.1f s" % row[rule]["seconds"]))
        mark = base - row[rule]["predicted"] * scale
        result.append('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" '
                      'stroke="#333" stroke-dasharray="3 2"/>' %
                      (x + 4, x + width - 4, mark, mark))
    bound = base - row["bound"] * scale
    result.append('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" '
                  'stroke="#c00" stroke-width="1.5"/>' %
                  (left + LEFT, left + PANEL - LEFT, bound, bound))
    return result


def training(top, width, rows):
    """A bar a row with figures, and what it reached."""
    rows = {name: x for name, x in rows.items() if x}
    largest = max(x["samples_per_second"] for x in rows.values())
    left, step = 170, 26
    room = width - left - 170
    result = [text(width / 2, top, "Training together, samples a second", 15)]
    for i, (name, x) in enumerate(rows.items()):
        y = top + 20 + i * step
        long = room * x["samples_per_second"] / largest
        result.append(text(left - 8, y + 13, name, 12, "end"))
        result.append('<rect x="%d" y="%d" width="%.1f" height="18" '
                      'fill="%s"/>' % (left, y, long, COLOURS["all-reduce"]
                                       if "equal shares" in name
                                       else COLOURS["planned"]))
        said = "%.1f" % x["samples_per_second"]
        if x.get("seconds_to_loss"):
            said += ", the same loss in %.0f s" % x["seconds_to_loss"]
        result.append(text(left + long + 6, y + 13, said, 12, "start"))
    return result


def picture(result):
    rows = result["rows"]
    rules = [x for x in COLOURS if any(x in row for row in rows.values())]
    width = PANEL * len(rows)
    total = TOP + HEIGHT + BOTTOM + 34
    below = total + 16
    trained = [x for x in result.get("training", {}).values() if x]
    if trained:
        total = below + 40 + 26 * len(trained)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'font-family="sans-serif">' % (width, total),
           '<rect width="100%" height="100%" fill="white"/>',
           text(width / 2, 22, "Seconds for averaging %.1f MB, median of rounds"
                % (result["gradient_bytes"] / 1e6), 15)]
    for i, (name, row) in enumerate(rows.items()):
        out += bars(i * PANEL, row, [x for x in rules if x in row])
        out.append(text(i * PANEL + PANEL / 2, TOP + HEIGHT + 18,
                        "%s: %s" % (name, row["about"]), 13))
    x, y = LEFT, TOP + HEIGHT + BOTTOM + 10
    for rule in rules:
        out.append('<rect x="%d" y="%d" width="12" height="12" fill="%s"/>'
                   % (x, y - 10, COLOURS[rule]))
        out.append(text(x + 18, y, rule, 12, "start"))
        x += 36 + 7 * len(rule)
    out.append(text(x, y, "dashed: predicted by the plan; red: lower bound",
                    12, "start"))
    if trained:
        out += training(below, width, result["training"])
    return "\n".join(out) + "\n</svg>\n"
