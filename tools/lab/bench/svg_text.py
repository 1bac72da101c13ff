"""Text of the pictures here."""

from xml.sax.saxutils import escape


def text(x, y, what, size=12, anchor="middle", extra=""):
    return ('<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s"%s>%s'
            "</text>" % (x, y, size, anchor, extra and " " + extra, escape(what)))
