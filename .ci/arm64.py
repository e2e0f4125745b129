"""Write the kernels of Linux on arm64 that come with the package, on any machine.

    python .ci/arm64.py

Each kernel that `treeselect.cli.warm` calls is compiled once more, for the other processor, by
numba and LLVM of this environment. On arm64 itself they make the same code, byte for byte.
"""

import hashlib
import os
import zipfile
from pathlib import Path

TRIPLE, PROCESSOR = "aarch64-unknown-linux-gnu", "generic"
os.environ |= {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": ""}

import llvmlite.binding as llvm  # noqa: E402

from treeselect.cli.warm import compile_kernels  # noqa: E402
from treeselect.engine import compiling, jit, object_code  # noqa: E402


def target_machine():
    """As in ``object_code``, for the other processor."""
    return llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=PROCESSOR, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )


def main():
    """Write the pack."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.get_process_triple = lambda: TRIPLE  # by which numba knows its target
    jit.target_machine = target_machine
    load, found = compiling._load, {}

    def load_and_compile(kernel, arguments, letters):
        kinds = "".join(compiling._kinds(arguments))
        name = f"{kernel.name}-{hashlib.sha256(kinds.encode()).hexdigest()[:12]}"
        code, result = jit.object_code(kernel.py_func, arguments)
        stored = result.encode() + b"\0" + code
        found[name] = hashlib.sha256(stored).digest() + stored
        return load(kernel, arguments, letters)

    compiling._load = load_and_compile
    compile_kernels()
    file = Path(object_code.__file__).parent / "kernels" / "linux-arm64.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as pack:
        pack.comment = f"{object_code.sources()} {object_code.versions()}".encode()
        for name in sorted(found):
            pack.writestr(zipfile.ZipInfo(name), found[name], zipfile.ZIP_DEFLATED)
    print(file)


if __name__ == "__main__":
    main()
