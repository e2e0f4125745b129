"""Pictures to markup that stands in the page, in its colours, with words for what they show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"

_COLOURS = {
    "#000000": "var(--ink)",
    "black": "var(--ink)",
    "#ffffff": "var(--paper)",
    "white": "var(--paper)",
    "#1f5f8b": "var(--accent)",
    "#5a6373": "var(--soft)",
    "#e9ecf1": "var(--grid)",
    "#c4532b": "var(--rust)",
    "#3b8f6b": "var(--green)",
    "#8a5a9e": "var(--violet)",
    "#9a7b1f": "var(--olive)",
    "#4f5a6e": "var(--slate)",
    "#b03a6a": "var(--berry)",
    "#2c93a8": "var(--teal)",
}
"""Colours of the package's figures, as the style sheets call them: brighter on a dark page."""

_POINTS = 96 / 72
"""Pixels of the screen per point."""


def png(content: str, alt: str) -> str:
    """A picture of pixels, from base64 text."""
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{content.strip()}">'


def svg(content: str, alt: str, number: int) -> str:
    """A figure of matplotlib as part of a page.

    Parameters
    ----------
    content : str
        An SVG file.
    alt : str
        What it shows, in words.
    number : int
        Of the figure in its page: names inside of one figure must not be those of another.

    Returns
    -------
    str
        One ``<svg>`` without styles for the page around it, dates and the name of the program.
    """
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(re.sub(r"<!DOCTYPE[^>]*>", "", content))
    width = float(root.attrib.pop("width").removesuffix("pt")) * _POINTS
    del root.attrib["height"]
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        element.attrib.update(_attributes(element.attrib, f"f{number}-"))
    root.attrib |= {"role": "img", "aria-label": alt, "style": f"max-width: {width:.0f}px"}
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(found: Mapping[str, str], prefix: str) -> dict[str, str]:
    new = {}
    for name, value in found.items():
        if name == "id":
            new[name] = prefix + value
        elif name == f"{{{_LINK}}}href" and value.startswith("#"):
            new[name] = f"#{prefix}{value[1:]}"
        elif name in ("style", "clip-path"):
            linked = value.replace("url(#", f"url(#{prefix}")
            new[name] = re.sub(
                r"(?<=: )(#[0-9a-f]{6}|black|white)\b", lambda m: _COLOURS.get(m[0], m[0]), linked
            )
    return new
