"""What passes: an answer, or an error of ours that names its subject; and nothing else happens."""

from __future__ import annotations

import contextlib
import io
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from treeselect.errors import TreeselectError, TreeselectWarning

ANSWERED, REFUSED, FAILED, VOID = "answered", "refused", "failed", "void"
"""An answer; an error of ours; a defect; a case that could not be made, so that it says nothing."""

RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that steer a terminal or reorder text, and halves of characters."""

LONGEST = 8_000
"""Most characters of a message."""

_PACKAGE = re.compile(r"[/\\]treeselect[/\\]((?:\w+[/\\])*\w+\.py)$")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case.

    Attributes
    ----------
    kind : str
    error : str
        Name of the error's class.
    message : str
    signature : str
        Of a failure: what and where, the same for all cases of one defect.
    """

    kind: str
    error: str = ""
    message: str = ""
    signature: str = ""


class Defect(Exception):
    """An answer that can't be right; its text is the signature, up to a colon and a blank."""


def place(frames: list[Any]) -> str:
    """The innermost frame of the package, as file and function."""
    for frame in reversed(frames):
        found = _PACKAGE.search(frame.filename)
        if found:
            return f"{found[1]}:{frame.name}"
    return "outside"


@contextlib.contextmanager
def listening() -> Iterator[list[tuple[str, str]]]:
    """Hear every warning that is not ours, by what and where."""
    heard: list[tuple[str, str]] = []

    def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if "cannot be called in a multiprocessing" in str(message):
            return  # joblib, of cases that run in processes of this program
        if not issubclass(category, TreeselectWarning):
            where = place(list(traceback.extract_stack()))
            heard.append((f"{category.__name__} at {where}", str(message)))
        elif RAW.search(str(message)):
            heard.append(("raw characters in a warning", str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        before = warnings.showwarning
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            yield heard
        finally:
            warnings.showwarning = before


@contextlib.contextmanager
def streams() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Standard output and error as Python opens them."""
    made = tuple(
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors, newline="")
        for errors in ("strict", "backslashreplace")
    )
    with contextlib.redirect_stdout(made[0]), contextlib.redirect_stderr(made[1]):
        yield made  # type: ignore[misc]


def written(stream: io.TextIOWrapper) -> str:
    """What was written to one of :func:`streams`."""
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


def judge(action: Any, *arguments: Any) -> Outcome:
    """Run and judge; `action` returns the kind of its answer, or raises."""
    with listening() as heard:
        try:
            kind = action(*arguments)
            found = Outcome(kind if kind in (REFUSED, VOID) else ANSWERED)
        except TreeselectError as error:
            found = _refusal(error)
        except Defect as error:
            found = Outcome(FAILED, "Defect", str(error), str(error).split(": ")[0])
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            found = _crash(error)
    if found.kind != FAILED and heard:
        what, message = heard[0]
        return Outcome(FAILED, "Warning", f"{what}: {message}"[:500], what)
    return found


def _refusal(error: Exception) -> Outcome:
    name, message = type(error).__name__, _text(error)
    where = place(list(traceback.extract_tb(error.__traceback__)))
    wrong = wrong_message(message)
    if wrong:
        return Outcome(FAILED, name, message[:2000], f"{wrong} in an error at {where}")
    return Outcome(REFUSED, name, message[:2000])


def wrong_message(message: str) -> str:
    """What a user could not bear in an error's text; nothing if it is good."""
    if not message.strip():
        return "no message"
    if RAW.search(message):
        return "raw characters"
    if len(message) > LONGEST:
        return "too long a message"
    if not re.search(
        r"[`='\"]|formula|expression|weights|offset|response|model|terms?|selected", message
    ):
        return "no subject"
    return ""


def check_refusal(error: Exception, use: str) -> None:
    """Raise a Defect if the error with which a use of an answer was refused is a bad one."""
    wrong = wrong_message(str(error))
    if wrong:
        said = f"{wrong} in an error of {use.split('(')[0]}(): {str(error)[:300]!a}"
        raise Defect(said) from error


def _crash(error: BaseException) -> Outcome:
    frames = list(traceback.extract_tb(error.__traceback__))
    where = place(frames)
    if where == "outside":
        where = f"outside, {frames[-1].filename.rsplit('/', 1)[-1]}" if frames else "outside"
    name = type(error).__name__
    of_user = ("calls.py:", "running/pieces.py:report")  # the latter calls `on_piece`
    if where in of_user or _is_unknown_argument(error):
        return Outcome(REFUSED, name, _text(error)[:2000])
    return Outcome(FAILED, name, _text(error)[:2000], f"{name} at {where}")


def _is_unknown_argument(error: BaseException) -> bool:
    """Python's own words for an argument that does not exist."""
    said = _text(error)
    return isinstance(error, TypeError) and (
        "unexpected keyword argument" in said or "multiple values for" in said
    )


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as inner:
        return f"<no text: {type(inner).__name__}>"


def check_text(text: str, what: str) -> None:
    """Raise a Defect if a text that is shown could steer a terminal."""
    found = RAW.search(text)
    if found:
        near = text[max(found.start() - 30, 0) : found.end() + 30]
        raise Defect(f"raw characters in {what}: {near!a}")


def check_page(data: bytes, what: str) -> None:
    """Raise a Defect if a page is no UTF-8, has raw characters or figures that are no XML."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Defect(f"{what} is not UTF-8: {error}") from None
    check_text(text, what)
    for figure in re.findall(r"<svg\b.*?</svg>", text, flags=re.DOTALL):
        try:
            ElementTree.fromstring(figure)
        except ElementTree.ParseError as error:
            raise Defect(f"an SVG in {what} is no XML: {error}") from None
