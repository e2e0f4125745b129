"""The rooms of ``hostile.py``: hostile cases, how they are run, and how they are judged.

``words``, ``columns`` and ``formulas`` draw what cases are made of; ``calls``, ``attacks``,
``files``, ``tables`` and ``faults`` are the families, each with ``draw`` (a plan, which JSON can
hold, from a stream of random numbers alone), ``run`` (a plan to an outcome) and ``smaller`` (the
plans that are a little simpler). ``watching`` hears what Python does while a formula is handled,
``fencing`` keeps the machine unharmed, ``judging`` tells what passes, ``warming`` loads and
compiles what is loaded or compiled once, ``working`` runs cases in processes that may die,
``minimising`` shrinks a case that fails.
"""
