"""Colours of all figures: matplotlib draws with them, and ``report.css`` has the same ones."""

ACCENT = "#1f5f8b"
SOFT = "#5a6373"
INK = "#1d2330"
FAINT = "#868f9e"
"""Marks of less weight."""

GRID = "#e9ecf1"
PALE = "#e4e4e4"
"""What a map does not fill."""

COLOURS = (ACCENT, "#c4532b", "#2f8260", "#8a5a9e", "#8f7013", "#4f5a6e", "#b03a6a", "#1f8095")
