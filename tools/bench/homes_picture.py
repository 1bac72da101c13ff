"""Draws what tools/bench/homes measured: a square a pair of kinds, coloured by
how the pair connected, with how long that took and how fast it is."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "lab" / "bench"))
from svg_text import text  # noqa: E402

COLOURS = {"direct": "#66c2a5", "circuit": "#8da0cb", "mixed": "#ffd92f",
           "nothing": "#fc8d62"}
MEANINGS = {"direct": "direct, punched ones too", "circuit": "through a hub",
            "mixed": "some so, some so", "nothing": "no line"}
CELL, TALL, LEFT, TOP = 92, 50, 120, 70


def picture(result):
    kinds, pairs = result["kinds"], result["pairs"]
    width = LEFT + CELL * len(kinds) + 16
    height = TOP + TALL * len(kinds) + 50
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'font-family="sans-serif">' % (width, height),
           '<rect width="100%" height="100%" fill="white"/>',
           text(width / 2, 24, "Lines between homes: how, after how many "
                "seconds, how fast", 15)]
    for i, kind in enumerate(kinds):
        out.append(text(LEFT + CELL * (i + 0.5), TOP - 10, kind))
        out.append(text(LEFT - 8, TOP + TALL * (i + 0.5) + 4, kind, 12, "end"))
    for i, one in enumerate(kinds):
        for j, other in enumerate(kinds):
            x = pairs["%s, %s" % tuple(sorted((one, other)))]
            left, top = LEFT + CELL * j, TOP + TALL * i
            out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="%s" '
                       'stroke="white" stroke-width="2"/>'
                       % (left, top, CELL, TALL, COLOURS[x["way"]]))
            said = "-" if x["seconds"] is None else "%.1f s" % x["seconds"]
            fast = x.get("bytes_per_second")
            if fast:
                out.append(text(left + CELL / 2, top + 38,
                                "%.1f Mbit/s" % (fast * 8 / 1e6), 11))
            out.append(text(left + CELL / 2, top + (22 if fast else 30), said))
    x, y = LEFT, TOP + TALL * len(kinds) + 28
    for way, meaning in MEANINGS.items():
        out.append('<rect x="%d" y="%d" width="12" height="12" fill="%s"/>'
                   % (x, y - 10, COLOURS[way]))
        out.append(text(x + 18, y, meaning, 12, "start"))
        x += 40 + 7 * len(meaning)
    return "\n".join(out) + "\n</svg>\n"
