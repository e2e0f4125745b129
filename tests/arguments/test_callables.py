"""Parameters of functions of any kind."""

from __future__ import annotations

from treeselect.arguments.checks import parameters_of


class Proxy:
    """Stands for what is not there any more."""

    def __getattribute__(self, name):
        raise RuntimeError("gone")

    def __call__(self, y_true, prediction):
        return 0.0


def test_parameters_of_functions_and_of_what_does_not_tell():
    assert list(parameters_of(lambda a, *, sample_weight=None: a)) == ["a", "sample_weight"]
    assert parameters_of(type) == parameters_of(Proxy()) == parameters_of(None) == {}
