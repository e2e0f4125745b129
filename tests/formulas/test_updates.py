"""Formulas in terms of others, as R's ``update.formula``."""

import pytest

from treeselect.errors import FormulaError
from treeselect.formulas.guard import updated_formula


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("y ~ . - id", "~ . - age", "y ~ . - id - age"),
        ("y ~ a + b", ". ~ . + x", "y ~ a + b + x"),
        ("y ~ a + b", "log(.) ~ .", "log(y) ~ a + b"),
        ("y ~ a + b", "~ .:x", "y ~ (a + b):x"),
        ("y ~ a", "~ .:x", "y ~ a:x"),
        ("a - b ~ x", "1 / . ~ .", "1 / (a - b) ~ x"),
        ("y ~ a", "z ~ b", "z ~ b"),
        ("y ~ a", "~ I(b * 1.5) + np.log(c) + .5", "y ~ I(b * 1.5) + np.log(c) + .5"),
        ("`y ~ .` ~ `a.b`", "~ . + `c . d`", "`y ~ .` ~ `a.b` + `c . d`"),
        ('y ~ C(g, levels=["u . v"])', "~ . + x", 'y ~ C(g, levels=["u . v"]) + x'),
        ("Surv(t, e) ~ .", "~ . + strata(s)", "Surv(t, e) ~ . + strata(s)"),
    ],
)
def test_a_dot_stands_for_the_old_side(old, new, found):
    assert updated_formula(old, new) == found


@pytest.mark.parametrize("new", [". - age", "y ~ a ~ b", "~", "y ~ "])
def test_what_is_no_formula(new):
    with pytest.raises(FormulaError):
        updated_formula("y ~ a", new)
