"""Work on a machine: processes, threads, memory and progress.

In come functions and rows to share out; out come their answers, in order, or an error that says
what gave way.
"""
