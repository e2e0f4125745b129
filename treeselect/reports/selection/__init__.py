"""Sections of the report on a selection, as plain data.

``treeselect/reports/gather.py`` lists them; blocks of ``report.html.j2`` show them.
"""
