"""Final models in other languages.

Input: a fit. Output: a file that predicts without treeselect: Python, SQL or ONNX.
"""
