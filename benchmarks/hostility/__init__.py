"""The rooms of ``hostile.py``: hostile cases, how they are run, and how they are judged.

``words``, ``columns``, ``formulas`` and ``arguments`` draw what cases are made of; ``calls``,
``attacks``, ``files``, ``tables`` and ``faults`` are the families, each with ``draw`` (a plan,
which JSON can hold, from a stream of random numbers alone) and ``run`` (a plan to an outcome).
``watching`` hears what Python does while a formula is handled, and keeps the machine unharmed,
``judging`` tells what passes, ``working`` has the families by name, and runs cases in processes
that may die.
"""
