"""Evaluates exported modules of StableHLO in the interpreter that comes with jaxlib: `python modules.py FOLDER`. jaxlib has no dialect
`check`, so the function returns the result and the expected constant here, and their bytes are compared. Prints what is wrong, and
ends with status 1 if that is more than is known."""

import re
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs._jax_mlir_ext import register_dialects
from jaxlib.mlir._mlir_libs._stablehlo import eval_module
from jaxlib.mlir.dialects import func, stablehlo

CHECK = re.compile(r"    check\.expect_eq_const %result, (dense<.*> : (tensor<.*>))\n    func\.return\n")
# What is known to fail, by the name of the file.
KNOWN = {
    "*index_width_*": "an unsigned index of more than half of its range is negative",
    "*_slice_sizes_*_as_u8*": "likewise an unsigned slice size in a constant",
}
registry = ir.DialectRegistry()
register_dialects(registry)


def readable(name, kind):
    """Lines that turn a value into ones whose bytes the bindings read, with their names and types."""
    if "bf16" in kind:
        bits = kind.replace("bf16", "ui16")
        return [(f"    {name}_bits = stablehlo.bitcast_convert {name} : ({kind}) -> {bits}\n", f"{name}_bits", bits)]
    if "complex" in kind:
        part = re.sub(r"complex<(f\d+)>", r"\1", kind)
        return [(f"    {name}_{of} = stablehlo.{of} {name} : ({kind}) -> {part}\n", f"{name}_{of}", part) for of in ("real", "imag")]
    return [("", name, kind)]


def failure(text):
    """What is wrong with a module; None if it gives what it expects."""
    found = CHECK.search(text)
    constant, kind = found.groups()
    lines = readable("%result", kind) + readable("%expected", kind)
    names, kinds = ", ".join(name for _, name, _ in lines), ", ".join(kind for _, _, kind in lines)
    body = f"    %expected = stablehlo.constant {constant}\n" + "".join(line for line, _, _ in lines)
    text = text[: found.start()] + f"{body}    func.return {names} : {kinds}\n" + text[found.end() :]
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.dialects["func"]  # loads it
    stablehlo.register_dialect(context)
    try:
        with context, ir.Location.unknown():
            module = ir.Module.parse(text.replace("@main()", f"@main() -> ({kinds})"))
            results = [memoryview(result).tobytes() for result in eval_module(module, [])]
    except Exception as error:
        return " ".join(str(error).splitlines()[:2])
    half = len(results) // 2
    return None if results[:half] == results[half:] else "another result"


def main(root):
    files = sorted(Path(root).glob("*.mlir"))
    wrong = {file.stem: why for file in files if (why := failure(file.read_text()))}
    reasons = Counter(next((why for glob, why in KNOWN.items() if fnmatch(name, glob)), None) for name in wrong)
    new = [name for name in wrong if not any(fnmatch(name, glob) for glob in KNOWN)]
    for name in new[:50]:
        print(f"{name}: {wrong[name][:200]}")
    known = ", ".join(f"{count} {why}" for why, count in reasons.items() if why)
    print(f"{len(files) - len(wrong)} of {len(files)} modules pass; known: {known or 'nothing'}; new: {len(new)}")
    return int(bool(new) or not files)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
