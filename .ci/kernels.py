"""Compile the kernels that come with the package, for Linux on x86-64 and on arm64.

    python .ci/kernels.py        on Linux with an x86-64 processor that has AVX2

Each kernel that `treeselect.cli.warm` calls is compiled by numba and LLVM of this environment. The
same sources and versions make the same bytes: on arm64 itself, too.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

TARGETS = {
    "linux-x86_64-v3": ("x86_64-unknown-linux-gnu", "x86-64-v3", "static"),
    "linux-arm64": ("aarch64-unknown-linux-gnu", "generic", "default"),
}
"""Files, with LLVM's names of machine and processor, and how code is placed. The first is that of
this machine: the others are compiled while its kernels run."""


def write(name, triple, processor, relocation):
    """Write the kernels of a target, in a process of its own: numba knows a single one."""
    os.environ |= {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.get_process_triple = lambda: triple
    from treeselect.cli.warm import compile_kernels
    from treeselect.engine import compiling, jit, object_code

    if object_code.pack_file().stem != next(iter(TARGETS)):
        raise SystemExit("The kernels must be compiled on Linux with x86-64 and AVX2.")
    jit.target_machine = lambda: llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, opt=3, reloc=relocation, codemodel="jitdefault", jit=True
    )
    load, found = compiling._load, {}

    def load_and_compile(kernel, arguments, letters):
        own = compiling.name_of(kernel, arguments)
        code, result = jit.object_code(kernel.py_func, arguments)
        stored = result.encode() + b"\0" + code
        if name == next(iter(TARGETS)):
            object_code.keep(own, stored)  # which is run
        found[own] = hashlib.sha256(stored).digest() + stored
        return load(kernel, arguments, letters)

    compiling._load = load_and_compile
    compile_kernels()
    versions = " ".join(f"{own} {version(own)}" for own in ("numba", "llvmlite"))
    file = Path(object_code.__file__).parent / "kernels" / f"{name}.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as pack:
        pack.comment = f"{object_code.sources()} {versions}".encode()
        for own in sorted(found):
            pack.writestr(zipfile.ZipInfo(own), found[own], zipfile.ZIP_DEFLATED)
    print(file)


if __name__ == "__main__":
    if sys.argv[1:]:
        write(sys.argv[1], *TARGETS[sys.argv[1]])
    else:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TREESELECT_CACHE_DIR"] = folder
            for target in TARGETS:
                subprocess.run([sys.executable, __file__, target], check=True)
