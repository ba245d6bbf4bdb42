"""The executor against PyTorch, eager and compiled, on one device in one run: compare_on_device.py <folder of programs> <report.json> [device]

Tokens a second and peak memory of GPT-2 124M, 350M, 1.3B and Llama 1B in bf16 on a GPU (device cuda, the default); of tiny models on a CPU (device
cpu), to see that the comparison itself works. Rounds are interleaved; of each program's steps the first are left out; figures are medians.
Called by tests/run_gpu.sh. Exit code 1: a program failed; what it said is in the report.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parents[1] / "profiles/models"
WARM_UP = 4
ROUNDS = {"cuda": 1, "cpu": 3}   # a GPU is ours alone

GPT = json.loads((MODELS / "gpt2.json").read_text()) | {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
LLAMA = {"model_type": "llama", "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "initializer_range": 0.02, "max_position_embeddings": 8192,
         "tie_word_embeddings": False}
# name: config, samples a step (and microbatch), tokens a sample, steps
ON_GPU = {
    "gpt2-124m": (GPT, 16, 1024, 24),
    "gpt2-350m": (GPT | {"n_embd": 1024, "n_layer": 24, "n_head": 16}, 8, 1024, 20),
    "gpt2-1.3b": (GPT | {"n_embd": 2048, "n_layer": 24, "n_head": 16}, 4, 1024, 16),
    "llama-1b": (LLAMA | {"hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
                          "intermediate_size": 8192, "vocab_size": 32000}, 4, 2048, 16),
}
ON_CPU = {
    "tiny-gpt2": (json.loads((MODELS / "tiny-gpt2.json").read_text()), 2, 64, 8),
    "tiny-llama": (LLAMA | {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
                            "intermediate_size": 96, "vocab_size": 128, "max_position_embeddings": 64}, 2, 64, 8),
}


class Failure(Exception):
    pass


def call(command):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ended = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise Failure(f"{pathlib.Path(str(command[0])).name} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return ended.stdout


def write_plan(programs, folder, config, batch, sequence, device):
    """One device, no recomputation, the microbatch given: what PyTorch does too."""
    (folder / "config.json").write_text(json.dumps(config))
    cluster, precision = ("h100-80gb-sxm", "bf16") if device == "cuda" else (folder / "cpu.json", "fp32")
    if device != "cuda":
        profile = json.loads((HERE.parents[1] / "profiles/hardware/h100-80gb-sxm.json").read_text())
        cluster.write_text(json.dumps(profile | {"name": "cpu", "kind": "cpu"}))
    call([programs / "meshwright", "plan", "--model", folder / "config.json", "--cluster", cluster, "--devices", 1, "--global-batch", batch,
          "--sequence", sequence, "--precision", precision, "--fix", f"microbatch={batch}", "--fix", "recompute=none", "-o", folder / "plan.json"])
    return folder / "plan.json"


def write_tokens(path, vocabulary, count=400_000):
    """Numbers of a multiplicative generator: every model sees the same ones."""
    import numpy
    values = (numpy.arange(count, dtype=numpy.uint64) * 2654435761 >> 7) % min(vocabulary, 65536)
    values.astype(numpy.uint16).tofile(path)


def executor(programs, plan, tokens, steps, device):
    with tempfile.TemporaryDirectory() as folder:
        call([programs / "meshwright-worker", "run", "--plan", plan, "--data", tokens, "--steps", steps, "--out", folder, "--device", device, "--no-checkpoint"])
        lines = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.ndjson").read_text().splitlines()]
    figures = {"seconds": [line["step_time_seconds"] for line in lines], "loss": lines[-1]["loss"],
               "allocated_bytes": max(line["memory_allocated_bytes"] for line in lines)}
    if "memory_reserved_bytes" in lines[-1]:
        figures["reserved_bytes"] = max(line["memory_reserved_bytes"] for line in lines)
    return figures


def pytorch(plan, tokens, steps, device, how):
    return json.loads(call([sys.executable, HERE / "train_gpt.py", plan, tokens, steps, device, how]).splitlines()[-1])


def summary(rounds, tokens_a_step):
    seconds = [statistics.median(one["seconds"][WARM_UP:]) for one in rounds]
    rates = [tokens_a_step / time for time in seconds]
    figures = {"tokens_per_second": statistics.median(rates), "half_range": (max(rates) - min(rates)) / 2, "loss": rounds[-1]["loss"]}
    for name in ("allocated_bytes", "reserved_bytes"):
        if name in rounds[0]:
            figures[name] = max(one[name] for one in rounds)
    return figures


def compare(programs, case, device):
    config, batch, sequence, steps = case
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        plan, tokens = write_plan(programs, folder, config, batch, sequence, device), folder / "tokens.bin"
        write_tokens(tokens, config["vocab_size"])
        sides = {"executor": lambda: executor(programs, plan, tokens, steps, device),
                 "eager": lambda: pytorch(plan, tokens, steps, device, "eager")}
        if device == "cuda":
            sides["compiled"] = lambda: pytorch(plan, tokens, steps, device, "compiled")
        rounds = {name: [] for name in sides}
        for _ in range(ROUNDS[device]):
            for name, side in sides.items():
                rounds[name].append(side())
    result = {name: summary(each, batch * sequence) for name, each in rounds.items()} | {"samples": batch, "sequence": sequence, "steps": steps}
    for name in sides:
        if name != "executor":
            result[f"executor_over_{name}"] = result["executor"]["tokens_per_second"] / result[name]["tokens_per_second"]
            if "allocated_bytes" in result[name]:
                result[f"memory_over_{name}"] = result["executor"]["allocated_bytes"] / result[name]["allocated_bytes"]
    return result


def main():
    programs, path, device = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), (sys.argv[3:] + ["cuda"])[0]
    report, failed = {}, False
    for name, case in (ON_GPU if device == "cuda" else ON_CPU).items():
        try:
            report[name] = compare(programs, case, device)
        except Failure as failure:
            report[name], failed = {"failed": str(failure)}, True
        path.write_text(json.dumps({"device": device, "rounds": ROUNDS[device], "models": report}, indent=2) + "\n")   # what is known so far
        print(name, {key: value for key, value in report[name].items() if "over" in key or key == "failed"}, file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
