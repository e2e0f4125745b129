"""Numbers and summaries in print.

Input: numbers, names and the content of a summary. Output: texts, and the summary as plain text,
LaTeX, Markdown, HTML or Word. Other rooms import from this file alone.
"""

from treeselect.printing.numbers import (
    chosen_digits,
    chosen_form,
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
    signed,
    significant,
    significant_text,
)
from treeselect.printing.summary import OfContent, Summarised, Summary, written
from treeselect.printing.text import MOST_ROWS, SmallTable, SummaryContent

__all__ = [
    "MOST_ROWS",
    "OfContent",
    "SmallTable",
    "Summarised",
    "Summary",
    "SummaryContent",
    "chosen_digits",
    "chosen_form",
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
    "signed",
    "significant",
    "significant_text",
    "written",
]
