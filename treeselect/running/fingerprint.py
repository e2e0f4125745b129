"""A number that identifies a piece of work: the same for the same data, options and code.

Values are decomposed into arrays, numbers and texts, all of which enter the number. It does not
depend on memory addresses or the process, so that the next run of a script finds saved work.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import struct
import sys
import types
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from treeselect._version import __version__
from treeselect.arguments.checks import described
from treeselect.errors import OptionError, said_by

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "statsmodels", "cvxpy", "highspy")
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
        """Fingerprint of some values, 64 hexadecimal digits.

        Raises
        ------
        OptionError
            If a part of a value can't be decomposed.
        """
        return self._tuple("call", values).hex()

    def _of(self, value: Any) -> bytes:
        simple = _simple(value)
        if simple is not None:
            return _digest(simple)
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
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.ModuleType):
            return _digest(b"module", _origin(value.__name__, value.__name__))
        if isinstance(value, types.BuiltinFunctionType | np.ufunc | types.MethodDescriptorType):
            return _digest(b"builtin", repr(value).split(" at 0x")[0].encode())
        if isinstance(value, types.CodeType):
            return self._code(value)
        if type(value) in (list, tuple):
            return self._tuple(type(value).__name__, value)
        if type(value) is dict or isinstance(value, types.MappingProxyType):
            return self._tuple("dict", (part for item in value.items() for part in item))
        if isinstance(value, set | frozenset):
            return _digest(b"set", *sorted(map(self._of, value)))
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            return self._tuple("record", (type(value), *(getattr(value, n) for n in names)))
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
            return _digest(b"global", _origin(type(value).__module__, parts))
        filled = [
            list(part) if i >= 3 and part is not None else part for i, part in enumerate(parts)
        ]
        return self._tuple("object", filled[:5])

    def _class(self, value: type) -> bytes:
        """By name if its package has a version; otherwise including its code."""
        name = _origin(value.__module__, value.__qualname__)
        if _has_version(value.__module__):
            return _digest(b"class", name)
        own = {n: part for n, part in vars(value).items() if n not in _UNSAID}
        return self._tuple("class", (name, value.__bases__, _plain_parts(own)))

    def _function(self, value: types.FunctionType) -> bytes:
        name = _origin(value.__module__ or "", value.__qualname__)
        if _has_version(value.__module__ or ""):
            return _digest(b"function", name)
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        return self._tuple(
            "function", (name, value.__code__, value.__defaults__, value.__kwdefaults__, cells)
        )

    def _code(self, value: types.CodeType) -> bytes:
        return self._tuple("code", (value.co_code, value.co_consts, value.co_names))


_UNSAID = frozenset(
    ["__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__abstractmethods__",
     "_abc_impl", "__static_attributes__", "__annotations__", "__annotate_func__",
     "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__slots__"]
)  # fmt: skip
"""Attributes that Python adds to every class."""


def _plain_parts(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a class, with functions unwrapped."""
    return {name: _unwrapped(part) for name, part in parts.items()}


def _unwrapped(part: Any) -> Any:
    if isinstance(part, classmethod | staticmethod):
        return part.__func__
    if isinstance(part, property):
        return part.fget, part.fset
    is_slot = isinstance(part, types.MemberDescriptorType | types.GetSetDescriptorType)
    return "slot" if is_slot else part


def _simple(value: Any) -> bytes | None:
    """Bytes of a value without parts; None if it has any."""
    if value is None or isinstance(value, bool) or value is Ellipsis or value is NotImplemented:
        return repr(value).encode()
    kind = type(value)
    if kind is int or kind is complex:
        return f"{kind.__name__} {value!r}".encode()
    if kind is float:
        return b"float " + struct.pack("<d", value)
    if kind is str:
        return b"text " + value.encode("utf-8", "surrogatepass")
    if kind in (bytes, bytearray):
        return b"bytes " + bytes(value)
    if isinstance(value, np.generic) and not value.dtype.hasobject:
        return f"{value.dtype.str} ".encode() + value.tobytes()
    if isinstance(value, np.dtype):
        return f"dtype {value.str} {value!r}".encode()
    if isinstance(value, enum.Enum):
        return f"enum {type(value).__qualname__} {value.name}".encode()
    return None


def _digest(*parts: Any) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        found.update(
            struct.pack("<q", len(part))
        )  # so that different lists of parts give different digests
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


def _has_version(module: str) -> bool:
    return module != "__main__" and bool(_version(module))
