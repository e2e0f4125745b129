"""Colours of all figures: those of matplotlib, which ``report.css`` repeats."""

ACCENT = "#1f5f8b"
SOFT = "#5a6373"
INK = "#1d2330"
FAINT = "#868f9e"
"""Less prominent marks."""

GRID = "#e9ecf1"
PALE = "#e4e4e4"
"""Empty cells of a map."""

COLOURS = (ACCENT, "#c4532b", "#2f8260", "#8a5a9e", "#8f7013", "#4f5a6e", "#b03a6a", "#1f8095")
