"""Writes the table of values of axes that a search leaves out in docs/figures/planner.md: the best plan with each, where it is fixed, beside the best that is fixed to the rest of the row alone.

usage: asked_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

FIGURES = ROOT / "docs" / "figures" / "planner.md"
QUESTIONS = {  # model, cluster, devices, batch, sequence
    "Llama-3-70B on 128": ("llama-3-70b", "h100-80gb-sxm", 128, 512, 8192),
    "Llama-3-8B on 256 GB200": ("llama-3-8b", "gb200-186gb", 256, 512, 8192),
    "Llama-3-8B on 64, 64K": ("llama-3-8b", "h100-80gb-sxm", 64, 16, 65_536),
    "Llama-3-8B on 64, 256K": ("llama-3-8b", "h100-80gb-sxm", 64, 4, 262_144),
    "Qwen3-30B-A3B on 64": ("qwen3-30b-a3b", "h100-80gb-sxm", 64, 512, 4096),
    "DeepSeek-V3 on 1,024, for Megatron-LM": ("deepseek-v3", "h100-80gb-sxm", 1024, 1024, 4096, "--for", "megatron"),
}
DENSE, DOMAINS, LONG, LONGEST, EXPERTS, LARGE = QUESTIONS
TRIED = (  # what it is, the question, what both sides are fixed to, and what the one side is beside it, as --fix takes them
    ("a tensor group over two nodes", DENSE, (), ("tensor=16",)),
    ("the first four blocks of a stage are computed again", DENSE, (), ("recompute=full", "recompute_scope=first 4")),
    ("shards over two nodes, replicated (HSDP)", DENSE, ("zero=3", "data=128"), ("replicas=8",)),
    ("shards over an eighth of an NVLink domain, replicated", DOMAINS, ("zero=3",), ("replicas=32",)),
    ("an eighth of an NVLink domain keeps weights until the backward", DOMAINS, ("zero=3", "reshard=true"), ("reshard_ranks=8",)),
    ("samples in four slices", LONG, (), ("slices=4",)),
    ("context ranks in two levels", LONGEST, ("context=16",), ("context_inner=8",)),
    ("experts cut by two of four tensor ranks", EXPERTS, ("tensor=4",), ("expert_tensor=2",)),
    ("every exchange in turn, none beside another microbatch (no pairs)", LARGE, (), ("expert_overlap=false",)),
)


def best(program, question, *fixed):
    """Seconds of the best plan's step; none: no plan fits."""
    model, cluster, devices, batch, sequence, *program_of = map(str, QUESTIONS[question])
    answer = subprocess.run([program, "plan", "--model", model, "--cluster", cluster, "--devices", devices, "--global-batch", batch, "--sequence", sequence, *program_of, "--json",
                             *(word for one in fixed for word in ("--fix", one))], capture_output=True, text=True, cwd=ROOT)
    ranked = json.loads(answer.stdout).get("ranked", []) if answer.stdout else []
    return ranked[0]["result"]["step_time_seconds"] if ranked else None


def told(fixed):
    return f"`{' '.join(fixed)}`" if fixed else ""


def rows(program):
    yield "| value | question | both fixed to | and the one to | best step with it, s | without, s | change, % |\n|---|---|---|---|---|---|---|"
    for value, question, both, one in TRIED:
        step, without = best(program, question, *both, *one), best(program, question, *both)
        figures = f"{step:.2f} | {without:.2f} | {100 * (step / without - 1):+.1f}" if step else f"none fits | {without:.2f} |"
        print(value, figures, file=sys.stderr)
        yield f"| {value} | {question} | {told(both)} | {told(one)} | {figures} |"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    marks.between(FIGURES, "asked", "\n".join(rows(str(pathlib.Path(sys.argv[1]).resolve()))))
