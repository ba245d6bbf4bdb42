"""Writes the table of words that are not searched in docs/figures/planner.md: what each gains at most in the best plans of six questions, or of one of its own.

usage: unsearched_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

FIGURES = ROOT / "docs" / "figures" / "planner.md"
QUESTIONS = (  # model, cluster, devices, batch, sequence, further options
    ("gpt3-175b", "h100-80gb-sxm", 1024, 1536, 2048, "--for", "megatron", "--fix", "zero=1"),
    ("llama-3-70b", "h100-80gb-sxm", 128, 512, 8192),
    ("deepseek-v3", "h100-80gb-sxm", 1024, 1024, 4096, "--for", "megatron"),
    ("qwen3-30b-a3b", "h100-80gb-sxm", 64, 512, 4096),
    ("llama-3-8b", "h100-80gb-sxm", 8, 64, 8192),
    ("gpt2-xl", "v100-16gb-sxm2", 16, 512, 1024, "--precision", "fp16", "--fix", "zero=1"),
)
TRIED = {
    "vocabulary_multiple": (64, 1024), "microbatch_group": (2, 3), "prefetch": (0, 2, 3), "persistence_threshold": (100_000, 10_000_000),
    "bucket_size": ("10 MiB", "100 MiB", "400 MiB", "2 GiB"), "first_bucket_size": ("1 MiB",), "gradient_sync": ("all_reduce",),
    "overlap_weight_gather": (False, True), "post_validation": ("in_place", "copies"), "state_shards": ("tensors",),
    "cuda_graphs": ("per_layer", "full_iteration"), "tensor_overlap": ("apart", "along_products"), "reshard_after_backward": ("each", "last"), "delay_wgrad": (True,), "direct_source": (True,), "paged_optimizer": (True,), "optimizer_in_backward": (True,),
    "on_drive": ("optimizer", "both"), "offload_share": (0.9, 0.75, 0.5),
}
ON_HOST = ("llama-3-70b", "h100-80gb-sxm", 8, 64, 4096, "--offload", "--fix", "zero=3", "--fix", "offload_optimizer=true", "--fix", "offload_parameters=true")
# Words that are of none of these plans: the question whose best plan has each, and what that plan is besides.
OWN = {
    "microbatch_group": ("GPT-3 175B on 1,024, interleaved, in 48 GiB", ("gpt3-175b", "h100-80gb-sxm", 1024, 1536, 2048, "--fix", "schedule=interleaved", "--memory-limit", "48 GiB"), {}),
    "direct_source": ("BART-large on 8 A100 PCIe, 8 stages", ("bart", "a100-40gb-pcie", 8, 64, 1024, "--fix", "pipeline=8", "--fix", "schedule=1f1b", "--fix", "microbatch=2"), {}),
    "on_drive": ("Llama-3-70B on 8, weights and states on the host", ON_HOST, {}),
    "offload_share": ("Llama-3-8B on 4, states on the host", ("llama-3-8b", "h100-80gb-sxm", 4, 64, 4096, "--offload", "--fix", "zero=2", "--fix", "offload_optimizer=true"), {}),
    "optimizer_in_backward": ("Llama-3-8B on 8, a microbatch a step", ("llama-3-8b", "h100-80gb-sxm", 8, 8, 8192, "--fix", "zero=3", "--fix", "data=8", "--fix", "microbatch=1"), {"gradient_clip": 0}),
}
# Words of planner/unsearched.cpp that no value is tried of: they belong to another word, change what is trained, or follow from the plan.
UNTRIED = {
    "order": "a plan of its own", "cut": "follows from the prices of layers", "partition_size": "trains without clipping", "credit_size": "belongs to partition_size",
    "weight_sync": "belongs to state_shards", "graph_scope": "belongs to cuda_graphs",  "kept_until": "belongs to reshard_ranks", "expert_loads": "is no choice",
    "delay_head_wgrad": "follows from the memory that is left", "offload_modules": "follows from the memory that is left", "offload_least": "belongs to offload_modules",
    "offload_blocks": "belongs to offload_modules",
    "passes": "is one where nobody says another", "slices": "an axis: asked_table.py", "context_inner": "an axis: asked_table.py",
    "mtp_apart": "is of the network, which predicts further tokens in none of these questions", "context_by_document": "goes with samples of documents", "sync_batch_norm": "changes what is trained", "attention": "which kernels there are is known where the program runs",
}


# Values that are multiples of another number of the plan.
MULTIPLES = {"microbatch_group": lambda plan: plan["mesh"].get("pipeline", 1)}


def simulated(program, plan):
    """The result; nothing where the word does not belong to the plan."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(plan, file)
        file.flush()
        answer = subprocess.run([program, "simulate", file.name, "--json"], capture_output=True, text=True)
    return json.loads(answer.stdout)["result"] if answer.returncode == 0 else None


def bart(folder):
    """Its config.json, as a published row has it."""
    rows = json.loads((ROOT / "profiles" / "published" / "words.json").read_text())
    config = next(row["workload"]["config"] for row in rows if row["source"]["key"] == "dle-bart")
    path = pathlib.Path(folder) / "config.json"
    path.write_text(json.dumps(config))
    return str(path)


def planned(program, question):
    model, cluster, devices, batch, sequence, *more = map(str, question)
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "plan.json"
        model = bart(folder) if model == "bart" else model
        subprocess.run([program, "plan", "--model", model, "--cluster", cluster, "--devices", devices, "--global-batch", batch, "--sequence", sequence, *more,
                        "-o", plan], capture_output=True, cwd=ROOT, check=True)
        return json.loads(plan.read_text())


def changes(program, plans, word, value):
    """By plan that the word belongs to: change of the step in per cent, of the memory in GiB."""
    for plan in plans:
        asked = value * MULTIPLES[word](plan) if word in MULTIPLES else value
        if plan.get(word) == asked:
            continue
        before, after = simulated(program, plan), simulated(program, {**plan, word: asked})
        if after and after["fits"]:
            yield (100 * (after["step_time_seconds"] / before["step_time_seconds"] - 1), (after["peak_memory_bytes"] - before["peak_memory_bytes"]) / 2**30)


def plan_of(program, word):
    """Of its own question."""
    _, question, training = OWN[word]
    plan = planned(program, question)
    return {**plan, "training": {**plan["training"], **training}}


def rows(program):
    plans = [planned(program, question) for question in QUESTIONS]
    yield "| word | value | plans that may have it | change of the step, % | of the memory, GiB |\n|---|---|---|---|---|"
    for word, values in TRIED.items():
        its = [plan_of(program, word)] if word in OWN else plans
        for value in values:
            found = sorted(changes(program, its, word, value))
            if found:
                memory = [change for _, change in found]
                text = json.dumps(value).strip('"') + (" x stages" if word in MULTIPLES else "")
                yield f"| {word} | {text} | {OWN[word][0] if word in OWN else len(found)} | {found[0][0]:+.2f} to {found[-1][0]:+.2f} | {min(memory):+.1f} to {max(memory):+.1f} |"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table = "\n".join(rows(str(pathlib.Path(sys.argv[1]).resolve())))
    marks.between(FIGURES, "unsearched", table)
