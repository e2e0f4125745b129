"""The pieces of a long call: read from a folder or computed, saved, reported, and collected.

If the user stops the call, the finished pieces are the result, where a part can be one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import enum
import hashlib
import os
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from treeselect._version import __version__
from treeselect.arguments.checks import described, file_path
from treeselect.coding import PIECE_FORMAT, bytes_of, read_record
from treeselect.errors import OptionError, listing, quoted, reason, said_by
from treeselect.running.machine import parts_of, track, warn
from treeselect.running.parallel import ALONE, Workers, run_each
from treeselect.writing import replace_file

Found = Mapping[int, Any]
"""Results by the number of the piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished piece of a long call, as passed to `on_piece`.

    Attributes
    ----------
    kind : str
        ``"resample"`` of ``resample()``, ``"fold"`` of ``performance()``, ``"sample"`` of
        ``validate()``, ``"split"`` of ``inference()``, ``"pair"`` of ``compare()``: a method in a
        fold.
    number : int
        Number of the piece, from 0. Pieces may finish in any order.
    done, total : int
        Number of finished pieces, including this one, and of all pieces.
    was_saved : bool
        Whether it was read from the `checkpoint` folder.
    """

    kind: str
    number: int
    done: int
    total: int
    was_saved: bool


FEWEST = 2
"""Fewest resamples, folds or splits that make a partial result: one alone shows no variation."""


def some(found: Found) -> Found:
    """The finished pieces, if there are two or more: see :attr:`Kind.part`."""
    return found if len(found) >= FEWEST else {}


@dataclass(frozen=True, slots=True)
class Kind:
    """Description of the pieces of a call."""

    name: str  # Singular, in lower-case letters
    result: Any  # type of its result, whose annotations are all that its files' reader knows
    # From the finished pieces of a stopped call to those that form a result; empty if none do
    part: Callable[[Found], Found] = some
    many: str = ""  # Plural, for messages, and label of the progress; by default of `name`
    label: str = ""


@dataclass(frozen=True, slots=True)
class Course:
    """How pieces are run; results do not depend on it."""

    workers: Workers = ALONE
    progress: bool | None = None  # see ``progress.track``
    checkpoint: Path | None = None  # folder of finished pieces
    # Called with a :class:`Piece` after each piece
    on_piece: Callable[[Piece], object] | None = None


def read_course(
    workers: Workers, progress: bool | None, checkpoint: object, on_piece: Any
) -> Course:
    """How pieces are run, from the arguments of a call; an OptionError if one is not allowed."""
    folder = read_checkpoint(checkpoint)
    if on_piece is not None and not callable(on_piece):
        raise OptionError(
            "`on_piece` must be a function of one argument, the finished piece.\n"
            f"  Found: {described(on_piece)}."
        )
    return Course(workers, progress, folder, on_piece)


def run_pieces(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], kind: Kind, course: Course
) -> Found:
    """Results of ``function(*call, n_threads=...)`` by number: of all calls, or of some of them if
    the user stops the call and a part can be a result."""
    saved: Checkpoint | None = None
    if course.checkpoint is not None:
        known_values = Fingerprints()
        same = (versions(), kind.name, function.__module__, function.__qualname__)
        keys = {number: known_values.of(*same, *call) for number, call in enumerate(calls)}
        saved = Checkpoint(course.checkpoint, kind, keys)
    many = kind.many or f"{kind.name}s"
    label = kind.label or many.capitalize()
    found: dict[int, Any] = {}

    def report(number: int, was_saved: bool) -> None:
        if course.on_piece is not None:
            course.on_piece(Piece(kind.name, number, len(found), len(calls), was_saved))

    try:
        for number, result in ({} if saved is None else saved.read()).items():
            found[number] = result
            report(number, was_saved=True)
        left = {number: call for number, call in enumerate(calls) if number not in found}
        with contextlib.closing(run_each(function, left, course.workers)) as running:
            for number, result in track(running, label, len(calls), course.progress, len(found)):
                found[number] = result
                if saved is not None:
                    saved.save(number, result)
                report(number, was_saved=False)
    except KeyboardInterrupt:
        part = kind.part(dict(sorted(found.items())))
        if not part:
            raise
        if len(part) < len(calls):
            warn(stopped_note(len(part), len(calls), many))
        return part
    return dict(sorted(found.items()))


def stopped_note(n: int, asked: int, name: str) -> str:
    """The note on the result of a stopped call."""
    return f"Partial: stopped after {n:,} of {asked:,} {name}; the result is based on these alone."


# --- finished pieces of long calls in a folder, from which a stopped call resumes ----------------
# A file for each piece, ``resample-<32 hexadecimal digits>.treeselect``, of the form of model files
# (``treeselect.coding``). Its content is a key and a result. The key is a fingerprint of everything
# on which the piece depends: its kind, the data, the method and its options, its number and seed,
# and the versions of the package and the numerical libraries. Its first digits are in the name, so
# that a call reads only its own files and those of other calls with the same pieces.

_DIGITS = 32
"""Digits of the key that are part of a file name."""


def read_checkpoint(folder: object) -> Path | None:
    """The argument as a writable folder, created if it does not exist."""
    if folder is None:
        return None
    path = file_path(folder, name="checkpoint")
    try:
        path.mkdir(exist_ok=True)  # without parents: a typing error would create many
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(None, "It is read-only")
    except OSError as error:
        raise OptionError(
            "`checkpoint` must be a writable folder.\n"
            f"  Found: {quoted(str(path))}. {reason(error)}"
        ) from None
    return path


@dataclass(slots=True)
class Checkpoint:
    """The files of one call."""

    folder: Path
    kind: Kind
    keys: Mapping[int, str]  # fingerprint of each piece by its number
    _has_warned: bool = False

    def read(self) -> dict[int, Any]:
        """Results of the saved pieces by number; files that can't be used are told in a warning."""
        found, damaged = {}, []
        form: Any = {PIECE_FORMAT: types.GenericAlias(tuple, (str, self.kind.result))}
        for number, key in self.keys.items():
            path = self._path(number)
            if not os.path.lexists(path):
                continue
            try:
                own, result = read_record(path, form)
                if own != key:
                    raise ValueError("another piece")
                found[number] = result
            except MemoryError:
                raise
            except Exception:  # a damaged file can contain anything
                damaged.append(path.name)
        if damaged:
            self._warn(f"Damaged or unreadable, and computed again: {listing(damaged, 3)}.")
        elif not found and (others := len(list(self.folder.glob(f"{self.kind.name}-*")))):
            self._warn(
                f"From other calls: {others:,} finished {self.kind.name}{'s' if others > 1 else ''}"
                " with different data, options, seed or versions."
            )
        return found

    def _warn(self, why: str) -> None:
        folder = quoted(str(self.folder))
        warn(f"Some files in the `checkpoint` folder {folder} are not used.\n  {why}")

    def save(self, number: int, result: Any) -> None:
        """Write a piece; if that fails, warn once, and continue."""
        content = bytes_of((self.keys[number], result), PIECE_FORMAT)
        try:
            replace_file(self._path(number), content)
        except OSError as error:
            if not self._has_warned:
                warn(
                    f"Can't save a finished {self.kind.name} in {quoted(str(self.folder))}.\n"
                    f"  Found: {reason(error)}\n"
                    "  The call continues, and its result will be complete. Unsaved pieces are lost"
                    " if it is stopped."
                )
            self._has_warned = True

    def _path(self, number: int) -> Path:
        return self.folder / f"{self.kind.name}-{self.keys[number][:_DIGITS]}.treeselect"


# --- A number that identifies a piece of work: the same for the same data, options and code ------
# Values are decomposed into arrays, numbers and texts, all of which enter the number. It does not
# depend on memory addresses or the process, so that the next run of a script finds saved work.

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "statsmodels", "cvxpy")
"""Libraries whose version may change results."""


@cache
def versions() -> tuple[str, ...]:
    """The version and all sources of the package, and the versions of the numerical libraries:
    results also depend on these."""
    package = Path(__file__).resolve().parents[1]
    sources = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        sources.update(source.relative_to(package).as_posix().encode())
        sources.update(source.read_bytes())
    found = (f"{name} {metadata.version(name)}" for name in LIBRARIES)
    return (__version__, sources.hexdigest(), *found)


class Fingerprints:
    """Fingerprints of values; repeated arrays and records are read once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes]] = {}
        self._open: set[int] = set()

    def of(self, *values: Any) -> str:
        """Fingerprint of some values; an OptionError if a part can't be decomposed."""
        return self._tuple("call", values).hex()

    def _of(self, value: Any) -> bytes:
        if isinstance(value, _SIMPLE):
            return _digest(f"{type(value).__qualname__} {value!r}".encode("utf-8", "surrogatepass"))
        if id(value) in self._known:
            return self._known[id(value)][1]
        if id(value) in self._open:
            return _digest(b"itself")
        self._open.add(id(value))
        found = self._inside(value)
        self._open.discard(id(value))
        self._known[id(value)] = value, found  # keep it alive, so that its id is not reused
        return found

    def _tuple(self, kind: str, values: Iterable[Any]) -> bytes:
        return _digest(kind.encode(), *map(self._of, values))

    def _inside(self, value: Any) -> bytes:
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            plain = np.ascontiguousarray(value)
            head = f"{plain.dtype.str} {value.shape}".encode()
            return _digest(b"array", head, plain.reshape(-1).view(np.uint8).data)
        if isinstance(value, type | types.FunctionType | types.ModuleType):
            return self._code(value)
        if isinstance(value, types.BuiltinFunctionType | np.ufunc | types.MethodDescriptorType):
            return _digest(b"builtin", repr(value).split(" at 0x")[0].encode())
        if isinstance(value, types.CodeType):
            return self._tuple("code", (value.co_code, value.co_consts, value.co_names))
        if type(value) in (list, tuple):
            return self._tuple(type(value).__name__, value)
        if type(value) is dict or isinstance(value, types.MappingProxyType):
            return self._tuple("dict", (part for item in value.items() for part in item))
        if isinstance(value, set | frozenset):
            return _digest(b"set", *sorted(map(self._of, value)))
        if dataclasses.is_dataclass(value):
            return self._tuple("record", (type(value), *parts_of(value)))
        return self._object(value)

    def _object(self, value: Any) -> bytes:
        """Any other object, by the parts that pickle would store."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception as error:  # foreign code
            raise OptionError(
                "`checkpoint` needs a fingerprint of everything that the result depends on, and"
                f" can't compute that of {described(value)}.\n  Found: {said_by(error)}\n"
                "  Remove this object or leave out `checkpoint`."
            ) from error
        if isinstance(parts, str):
            name = _origin(type(value).__module__, parts)
            return self._tuple("global", (name, getattr(value, "__wrapped__", None)))
        return self._tuple(
            "object", (list(part) if isinstance(part, Iterator) else part for part in parts[:5])
        )

    def _code(self, value: Any) -> bytes:
        """A class, function or module: by name if its package has a version, and it has no closure;
        otherwise including its code, and that of a function with the globals that it uses."""
        is_module = isinstance(value, types.ModuleType)
        module = value.__name__ if is_module else value.__module__ or ""
        name = _origin(module, module if is_module else value.__qualname__)
        has_version = module != "__main__" and _version(module)
        if has_version and not getattr(value, "__closure__", None):
            return _digest(type(value).__name__.encode(), name)
        if is_module:
            file = Path(getattr(value, "__file__", None) or "")
            return _digest(b"module", name, file.read_bytes() if file.is_file() else b"")
        if isinstance(value, type):
            own = {n: _unwrapped(part) for n, part in vars(value).items() if n not in _UNSAID}
            return self._tuple("class", (name, value.__bases__, own))
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        others = value.__defaults__, value.__kwdefaults__, has_version or _globals_of(value)
        return self._tuple("function", (name, value.__code__, cells, *others))


def _globals_of(function: types.FunctionType) -> dict[str, Any]:
    """What the code of a function, and of those inside it, reads of its module, by name."""
    codes, known = [function.__code__], function.__globals__
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    read = (step for code in codes for step in dis.get_instructions(code))
    names = {step.argval for step in read if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return {name: known[name] for name in sorted(names & known.keys())}


_UNSAID = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__abstractmethods__",
     "_abc_impl", "__static_attributes__", "__annotations__", "__annotate_func__",
     "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__slots__"]
)  # fmt: skip
"""Attributes that Python adds to every class."""


def _unwrapped(part: Any) -> Any:
    """An attribute of a class, without what Python wraps around functions."""
    if isinstance(part, classmethod | staticmethod):
        return part.__func__
    if isinstance(part, property):
        return part.fget, part.fset
    is_slot = isinstance(part, types.MemberDescriptorType | types.GetSetDescriptorType)
    return "slot" if is_slot else part


_SIMPLE = (
    type(None), bool, int, float, complex, str, bytes, bytearray, np.generic, np.dtype, enum.Enum,
    types.EllipsisType, types.NotImplementedType,
)  # fmt: skip
"""Values without parts, which their representation tells."""


def _digest(*parts: Any) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        found.update(struct.pack("<q", len(part)))  # other lists of parts have other digests
        found.update(part)
    return found.digest()


def _origin(module: str, name: str) -> bytes:
    """Name, module, and version of its package."""
    return f"{module} {name} {_version(module)}".encode("utf-8", "surrogatepass")


def _version(module: str) -> str:
    """Version of the package; that of Python for the standard library; empty if unknown."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names:
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    return str(getattr(sys.modules.get(root), "__version__", ""))
