"""Writes the table of values of axes that a search leaves out in docs/figures/planner.md: the best plan with each, where it is fixed, beside the best of all.

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
    "Qwen3-30B-A3B on 64": ("qwen3-30b-a3b", "h100-80gb-sxm", 64, 512, 4096),
    "DeepSeek-V3 on 1,024, for Megatron-LM": ("deepseek-v3", "h100-80gb-sxm", 1024, 1024, 4096, "--for", "megatron"),
}
DENSE, EXPERTS, LARGE = QUESTIONS
TRIED = (  # what it is, the question, as --fix takes it
    ("a tensor group over two nodes", DENSE, "tensor=16"),
    ("the first four blocks of a stage are computed again", DENSE, "recompute=full", "recompute_scope=first 4"),
    ("shards over two nodes, replicated (HSDP)", DENSE, "zero=3", "data=128", "replicas=8"),
    ("experts cut by two of four tensor ranks", EXPERTS, "tensor=4", "expert_tensor=2"),
    ("every exchange in turn, none beside another microbatch (no pairs)", LARGE, "expert_overlap=false"),
)


def best(program, question, *fixed):
    """Seconds of the best plan's step; none: no plan fits."""
    model, cluster, devices, batch, sequence, *program_of = map(str, QUESTIONS[question])
    answer = subprocess.run([program, "plan", "--model", model, "--cluster", cluster, "--devices", devices, "--global-batch", batch, "--sequence", sequence, *program_of, "--json",
                             *(word for one in fixed for word in ("--fix", one))], capture_output=True, text=True, cwd=ROOT)
    ranked = json.loads(answer.stdout).get("ranked", []) if answer.stdout else []
    return ranked[0]["result"]["step_time_seconds"] if ranked else None


def rows(program):
    yield "| value | question | as --fix takes it | best step with it, s | best of all, s | change, % |\n|---|---|---|---|---|---|"
    free = {question: best(program, question) for question in QUESTIONS}
    for value, question, *fixed in TRIED:
        step = best(program, question, *fixed)
        told = f"{step:.2f} | {free[question]:.2f} | {100 * (step / free[question] - 1):+.1f}" if step else f"none fits | {free[question]:.2f} |"
        print(value, told, file=sys.stderr)
        yield f"| {value} | {question} | `{' '.join(fixed)}` | {told} |"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    marks.between(FIGURES, "asked", "\n".join(rows(str(pathlib.Path(sys.argv[1]).resolve()))))
