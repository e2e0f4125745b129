"""What figures with a name on each row have in common, in pixels."""

ROW = 24
LABELS = 220.0
"""Room for names on the left."""
