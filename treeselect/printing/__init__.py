"""Numbers and summaries in print.

In come numbers, names and the content of a summary; out come texts, and the summary as plain text,
LaTeX, Markdown, HTML or an object of great_tables. This file is the face of the room.
"""

from treeselect.printing.content import MOST_ROWS, SmallTable, SummaryContent
from treeselect.printing.numbers import (
    chosen_digits,
    common_form,
    count_text,
    decimal_form,
    decimal_text,
    enumeration,
    error_text,
    interval_text,
    number_text,
    p_text,
    percent_text,
    plain_score,
    score_text,
    significant,
    significant_text,
)
from treeselect.printing.summary import Summary

__all__ = [
    "MOST_ROWS",
    "SmallTable",
    "Summary",
    "SummaryContent",
    "chosen_digits",
    "common_form",
    "count_text",
    "decimal_form",
    "decimal_text",
    "enumeration",
    "error_text",
    "interval_text",
    "number_text",
    "p_text",
    "percent_text",
    "plain_score",
    "score_text",
    "significant",
    "significant_text",
]
