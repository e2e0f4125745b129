"""Work on a machine: processes, threads, memory and progress.

Runs functions on many inputs and returns their results in order, or an error that names the cause.
"""
