"""Figures of reports and plots.

Input: values and names. Output: marks as plain data, painted to SVG for pages and on the axes of
matplotlib. Positions are pure functions, without a plotting package.
"""
