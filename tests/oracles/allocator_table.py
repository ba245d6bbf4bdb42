"""The section of docs/figures/oracles.md about what PyTorch's caching allocator reserves."""
import json
import pathlib
import statistics

from reserved import KINDS, reserved_by

KEPT = json.loads((pathlib.Path(__file__).resolve().parent / "kept_allocator.json").read_text())
GIB = 1 << 30
REQUESTS = pathlib.Path(__file__).resolve().parents[2] / "build" / "dev" / "bin" / "allocator_requests"


def section(program):
    errors, lines = {kind: [] for kind in KINDS}, []
    for kept in KEPT:
        case, cells = kept["case"], []
        for kind in KINDS:
            errors[kind].append(reserved_by(program, REQUESTS, kept, kind) / kept[kind] - 1)
            cells.append(f"{kept[kind] / GIB:.2f} | {100 * errors[kind][-1]:+.1f}")
        form = case["form"]
        lines.append(f"| {kept['seed']} | {form['layers']} x {form['hidden']}, vocabulary {form['vocabulary']} | {case['ranks']} | {case['microbatches']} x {case['microbatch']} x "
                     f"{case['sequence']} | {case['recompute']} | {kept['allocated'] / GIB:.2f} | {' | '.join(cells)} |")
    means = {kind: (100 * statistics.mean(map(abs, errors[kind])), 100 * statistics.mean(1 - kept["allocated"] / kept[kind] for kept in KEPT)) for kind in KINDS}
    return f"""## What the allocator reserves

What torch asks for in two steps of FSDP 2, storage by storage and stream by stream, given to PyTorch's own caching allocator on a device that is not there. {len(KEPT)} plans: simulated memory that is reserved \
misses it by {means['segments'][0]:.1f} % with segments and {means['expandable'][0]:.1f} % with such that grow (mean); what tensors occupy at most is {means['segments'][1]:.1f} and {means['expandable'][1]:.1f} % less.

| seed | model | data ranks | microbatches x size x sequence | recompute | tensors, GiB | segments, GiB | error, % | expandable, GiB | error, % |
|---|---|---|---|---|---|---|---|---|---|
""" + "\n".join(lines) + "\n"
