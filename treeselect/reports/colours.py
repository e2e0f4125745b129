"""Colours of the figures that matplotlib draws; those of the pages are in ``report.css``."""

ACCENT = "#1f5f8b"
SOFT = "#5a6373"
INK = "#20252e"
FAINT = "#aab1bd"
GRID = "#e9ecf1"
PALE = "#e4e4e4"
"""What a map does not fill."""

COLOURS = (ACCENT, "#c4532b", "#3b8f6b", "#8a5a9e", "#9a7b1f", "#4f5a6e", "#b03a6a", "#2c93a8")
