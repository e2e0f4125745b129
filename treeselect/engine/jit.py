"""Kernels to object code, by numba: only for what is neither in the package nor in the cache."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numba.np import arrayobj
from numba.np.numpy_support import as_dtype

from treeselect.engine.object_code import ENTRY, HEAD, target_machine
from treeselect.engine.threads import no_collection

_WORD = ir.IntType(64)


class _Library(JITCodeLibrary):
    """Code that is linked into a kernel, never run by itself.

    Numba would optimise and translate it once for itself and once more for each of its callers,
    and for theirs.
    """

    def _optimize_functions(self, module: Any) -> None:
        """As numba's, which would ask what processor this is, and give other code on another."""
        module.data_layout = self._codegen._data_layout
        builder = llvm.create_pass_builder(target_machine(), _tuning())
        for function in module.functions:
            builder.getFunctionPassManager().run(function, builder)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironment(super().codegen)


class _NoEnvironment:
    """Numba's code generator without the environment in memory, which code that only runs as part
    of other code does not have: it is for calls of Python, of which kernels make none."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _Compiler(Compiler):
    """Numba's compiler, but for the library that it fills."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, _Library(target.codegen(), "inner"), *rest)


@cache
def dispatcher_of(function: Callable[..., Any], forceinline: bool) -> Any:
    """Numba's dispatcher of a function that kernels call, or of a kernel without its entry.

    `forceinline` is always said, since otherwise all that an inlined function calls is inlined,
    too.
    """
    # No reference counts: kernels create no arrays, and halve their time and their compilation.
    compile_lazily: Any = numba.njit
    dispatcher = compile_lazily(
        error_model="numpy", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=False,
        pipeline_class=_Compiler, forceinline=forceinline,
    )(function)  # fmt: skip
    template = dispatcher.get_call_template

    def of_types(arguments: Any, named: Any) -> Any:
        # Numba would compile anew for every constant that a kernel calls another one with.
        return template(
            tuple(types.unliteral(kind) for kind in arguments),
            {name: types.unliteral(kind) for name, kind in named.items()},
        )

    dispatcher.get_call_template = of_types
    # Without a wrapper for Python there is nothing to call.
    dispatcher.add_overload = lambda compiled: dispatcher.overloads.update(
        {tuple(compiled.signature.args): compiled}
    )
    return dispatcher


def type_of(function: Callable[..., Any], forceinline: bool) -> Any:
    """Numba's type of a function that kernels call."""
    return types.Dispatcher(dispatcher_of(function, forceinline))


def object_code(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bytes, str]:
    """Object code of a kernel for arguments like these, and the kind of its result as JSON."""
    kinds = tuple(types.unliteral(numba.typeof(value)) for value in arguments)
    with no_collection(), numba.core.compiler_lock.global_compiler_lock:
        dispatcher = dispatcher_of(function, False)
        dispatcher.compile(kinds)
        compiled = dispatcher.overloads[kinds]
        context = dispatcher.targetctx
        library = context.codegen().create_library(ENTRY)
        module = library.create_ir_module(ENTRY)
        _write_entry(context, module, compiled.fndesc, kinds)
        library.add_ir_module(module)
        library.add_linking_library(compiled.library)
        result = json.dumps(_kind_of(compiled.signature.return_type))
        return _emitted(library), result


def _emitted(library: Any) -> bytes:
    """Object code of a library, without what its entry does not need."""
    module = library._final_module
    for part in library._linking_libraries:
        module.link_in(part._get_module_for_linking(), preserve=True)
    for i, own in enumerate([*module.functions, *module.global_variables]):
        if not own.is_declaration and own.name != ENTRY:
            own.linkage, own.name = "internal", f"part{i}"  # numba counts in its names
    machine = target_machine()
    builder = llvm.create_pass_builder(machine, _tuning())
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _tuning() -> Any:
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    # Sums that do not wait for each other become one vector: half the time of many classes.
    tuning.loop_vectorization, tuning.slp_vectorization = True, True
    return tuning


def _parts(kind: Any) -> tuple[Any, ...] | None:
    """The kinds in a tuple or record, None for other kinds."""
    is_tuple = isinstance(kind, types.BaseTuple)
    return tuple(kind) if is_tuple else None


def _kind_of(kind: Any) -> Any:
    """A result: a letter for a number, a list of the record's class and its parts for a tuple."""
    if (parts := _parts(kind)) is not None:
        own = getattr(kind, "instance_class", None)
        name = f"{own.__module__}:{own.__qualname__}" if own else ""
        return [name, *(_kind_of(part) for part in parts)]
    known = {types.Boolean: "b", types.Integer: "q", types.Float: "d", types.NoneType: "n"}
    return next(letter for own, letter in known.items() if isinstance(kind, own))


def _write_entry(context: Any, module: Any, described: Any, kinds: tuple[Any, ...]) -> None:
    """The function that Python calls: it takes a word for each array (the address of the object)
    and number, and a place for the words of the result, and returns 0; 1 if an array is of another
    kind than the code is for, 2 if numba's code ends in an error.

    It reads arrays by the layout of ``PyArrayObject``, which all compiled packages rely on.
    """
    pointer = _WORD.as_pointer()
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [pointer, pointer]), ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    words = (builder.load(builder.gep(entry.args[0], [_WORD(i)])) for i in range(10**6))
    values = [_argument(context, builder, kind, words) for kind in kinds]
    function = context.declare_function(module, described)
    status, result = context.call_conv.call_function(
        builder, function, described.restype, described.argtypes, values
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(ir.IntType(32)(2))
    for i, word in enumerate(_result(context, builder, described.restype, result)):
        builder.store(word, builder.gep(entry.args[1], [_WORD(i)]))
    builder.ret(ir.IntType(32)(0))


def _argument(context: Any, builder: Any, kind: Any, words: Iterator[Any]) -> Any:
    """Numba's value of an argument, made from words."""
    if (parts := _parts(kind)) is not None:
        values = [_argument(context, builder, part, words) for part in parts]
        return context.make_tuple(builder, kind, values)
    if isinstance(kind, types.NoneType):
        return context.get_dummy_value()
    word = next(words)
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, word)
    own = context.get_value_type(kind)
    if isinstance(kind, types.Boolean):
        return builder.icmp_signed("!=", word, _WORD(0))
    if isinstance(kind, types.Float):
        return (
            builder.fptrunc(builder.bitcast(word, ir.DoubleType()), own)
            if kind.bitwidth < 64
            else builder.bitcast(word, ir.DoubleType())
        )
    return word if own == _WORD else builder.trunc(word, own)


_DATA, _NDIM, _SHAPE, _STRIDES, _DTYPE, _FLAGS = (HEAD + n for n in (0, 8, 16, 24, 40, 48))
"""Where the fields of ``PyArrayObject`` are."""

_BYTE_ORDER, _NUMBER = HEAD + 10, HEAD + 12
"""Where those of ``PyArray_Descr`` are."""


def _array(context: Any, builder: Any, kind: Any, address: Any) -> Any:
    """An array as numba has it, if it is of this kind."""

    def read(start: Any, offset: int, own: Any) -> Any:
        return builder.load(builder.inttoptr(builder.add(start, _WORD(offset)), own.as_pointer()))

    int32, byte = ir.IntType(32), ir.IntType(8)
    refuse = builder.append_basic_block("refuse")
    with builder.goto_block(refuse):
        builder.ret(int32(1))

    def demand(holds: Any) -> None:
        go_on = builder.append_basic_block("holds")
        builder.cbranch(holds, go_on, refuse)
        builder.position_at_end(go_on)

    flags = np.zeros(1).flags
    needed = flags.num & 0x100 if kind.aligned else 0
    needed |= {"C": 1, "F": 2}.get(kind.layout, 0) | (0x400 if kind.mutable else 0)
    found = builder.and_(read(address, _FLAGS, int32), int32(needed))
    demand(builder.icmp_signed("==", found, int32(needed)))
    demand(builder.icmp_signed("==", read(address, _NDIM, int32), int32(kind.ndim)))
    dtype = read(address, _DTYPE, _WORD)
    number, own = read(dtype, _NUMBER, int32), as_dtype(kind.dtype)
    same = [np.dtype(c).num for c in "?bBhHiIlLqQfd" if np.dtype(c) == own]
    is_same = [builder.icmp_signed("==", number, int32(n)) for n in same]
    demand(is_same[0] if len(is_same) == 1 else builder.or_(*is_same))
    order = read(dtype, _BYTE_ORDER, byte)
    demand(builder.icmp_signed("!=", order, byte(ord(">" if np.little_endian else "<"))))
    made = context.make_array(kind)(context, builder)
    shape, strides = (read(address, offset, _WORD) for offset in (_SHAPE, _STRIDES))
    axes = range(kind.ndim)
    arrayobj.populate_array(
        made,
        data=builder.inttoptr(read(address, _DATA, _WORD), made.data.type),
        shape=cgutils.pack_array(builder, [read(shape, 8 * i, _WORD) for i in axes], _WORD),
        strides=cgutils.pack_array(builder, [read(strides, 8 * i, _WORD) for i in axes], _WORD),
        itemsize=context.get_constant(types.intp, own.itemsize),
        meminfo=None,
    )
    return made._getvalue()


def _result(context: Any, builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """The words of a result."""
    if (parts := _parts(kind)) is not None:
        for i, part in enumerate(parts):
            yield from _result(context, builder, part, builder.extract_value(value, i))
    elif isinstance(kind, types.Boolean):
        yield builder.zext(value, _WORD)
    elif isinstance(kind, types.Float):
        yield (
            builder.bitcast(builder.fpext(value, ir.DoubleType()), _WORD)
            if kind.bitwidth < 64
            else builder.bitcast(value, _WORD)
        )
    elif not isinstance(kind, types.NoneType):
        extend = builder.sext if kind.signed else builder.zext
        yield value if kind.bitwidth == 64 else extend(value, _WORD)


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Bring ``array[index]`` into the cache: rows of a leaf lie scattered in memory.

    The array has one dimension and is contiguous.
    """
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.bitcast(builder.gep(made.data, [arguments[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # For reading, to be kept in all caches, data.
        builder.call(function, [address, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return signature, generate


def _lowest_bit(typing_context: Any, word: Any) -> Any:
    """Position of the lowest bit that is set in a uint64, which must not be 0; int64."""
    signature = types.int64(types.uint64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return signature, generate


prefetch: Any = intrinsic(_prefetch)
lowest_bit: Any = intrinsic(_lowest_bit)


def type_of_instruction(name: str) -> Any:
    """Numba's type of an instruction."""
    return cpu_target.typing_context.resolve_value_type(
        {"prefetch": prefetch, "lowest_bit": lowest_bit}[name]
    )
