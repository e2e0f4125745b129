"""Where the report's templates are: in an installed package, or in a checkout of the repository."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def template_folder() -> Path:
    """Folder of the jinja2 templates and the style sheet.

    A wheel carries them inside the package. In a checkout, an editable install included, they
    stand at the top of the repository, where people copy from them to write a report of their own.

    Returns
    -------
    pathlib.Path
        ``treeselect/templates`` if it exists, else ``templates`` beside the package.

    Raises
    ------
    FileNotFoundError
        If neither exists.

    Examples
    --------
    >>> template_folder().name
    'templates'
    """
    candidates = (_PACKAGE / "templates", _PACKAGE.parent / "templates")
    for folder in candidates:
        if folder.is_dir():
            return folder
    looked = " and ".join(f"'{folder}'" for folder in candidates)
    raise FileNotFoundError(
        f"Can't find the report templates: looked for the folders {looked}. "
        "Install treeselect again, or run it from a full checkout of its repository."
    )
