"""What each of our kernels takes of a card, as it was compiled: registers, shared memory, warps that a multiprocessor holds, and whether anything spills.

usage: registers.py LIBRARY [--write]   (LIBRARY: libexecutor_cuda_kernels.a of a build for one architecture; --write: the table into docs/figures/gpu.md)

Read from the machine code by cuobjdump. Fails where a kernel spills that is not named here.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/figures/gpu.md"
WHEEL = ".deps/venv/lib/python3*/site-packages/triton/backends/nvidia/bin/cuobjdump"
REGISTERS, WARPS, LANES = 65536, 64, 32   # of a multiprocessor, compute capability 9.0; registers are given to a warp in 256s
# fp64 is for tests, and rows at odd addresses are moved one by one.
MAY_SPILL = re.compile(r"double|RowLayout<4, false>")
USAGE = re.compile(r"^ Function ([^\n]*):\n\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", re.MULTILINE)
TYPES = {"Bfloat16Bits": "bf16", "Float16Bits": "fp16", "float": "fp32", "double": "fp64"}


def cuobjdump():
    return shutil.which("cuobjdump") or next(map(str, ROOT.glob(WHEEL)), None)


def kernels(library):
    """[(name, template arguments, registers, bytes of stack, bytes of shared memory)]"""
    read = subprocess.run([cuobjdump(), "-res-usage", str(library)], capture_output=True, text=True, check=True).stdout
    text = subprocess.run(["c++filt"], input=read, capture_output=True, text=True, check=True).stdout
    for function, *numbers in USAGE.findall(text):
        plain = re.sub(r"executor::|\(anonymous namespace\)::|^void ", "", function)
        name, _, rest = plain.partition("_kernel")
        arguments = rest[:rest.index("(")] if "(" in rest else rest
        yield name, arguments, *map(int, numbers)


def spills(found):
    return [f"{name}{arguments}: {stack} bytes" for name, arguments, _, stack, _ in found if stack > 0 and not MAY_SPILL.search(arguments)]


def warps(registers):
    of_warp = -(-registers * LANES // 256) * 256
    return min(WARPS, REGISTERS // of_warp)


def table(found):
    """Of bf16, whole rows: what a training on a card runs."""
    yield "| kernel | registers | warps of 64 | shared, bytes |\n|---|---|---|---|"
    for name, arguments, registers, _, shared in sorted(found):
        if "Bfloat16Bits" in arguments and "false" not in arguments:
            words = [TYPES.get(word, word) for word in re.findall(r"\w+", arguments) if word in TYPES or word.startswith(("AdamWStep", "SgdStep", "Forward", "Backward"))]
            eights = re.search(r"RowLayout<(\d)", arguments)
            form = ", ".join(words) + (f", {8 * int(eights.group(1))} columns a thread" if eights else "")
            yield f"| {name}, {form} | {registers} | {warps(registers)} | {shared} |"


def main(library, *more):
    if cuobjdump() is None:
        sys.exit("no cuobjdump: it comes with CUDA, and with triton's wheel")
    found = list(kernels(library))
    if not found:
        sys.exit(f"{library} holds no kernel")
    for each in spills(found):
        print(f"spills: {each}", file=sys.stderr)
    if more == ("--write",):
        begin, end = "<!-- registers: made by tests/gpu/registers.py -->\n", "\n<!-- /registers -->"
        head, rest = PAGE.read_text().split(begin)
        PAGE.write_text(head + begin + "\n".join(table(found)) + end + rest.split(end.lstrip(), 1)[1])
    else:
        print("\n".join(table(found)))
    return 1 if spills(found) else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
