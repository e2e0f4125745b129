"""Methods that grow forests.

Input: a task. Output: the path of the terms that trees use, or need most.
"""
