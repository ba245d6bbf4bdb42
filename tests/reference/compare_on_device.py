"""The executor against PyTorch, eager and compiled, on one device: a phase of tests/run_gpu.sh (tests/gpu/phases.py).

Tokens a second and peak memory of GPT-2 124M (also with the dropout that it was trained with), 350M, 1.3B and Llama 1B in bf16 on a GPU (device cuda), of the executor also with products in 8 bit; of tiny models on a CPU (device cpu), to see that
the comparison itself works. Rounds are interleaved; of each program's steps the first are left out; figures are medians over rounds, each with half the
range of the rounds beside it: the noise floor.
"""
import array
import json
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parents[1] / "profiles/models"
WARM_UP = 4
RECOMPUTE = "none"   # as PyTorch beside it
ROUNDS = 3   # while there is time for another
SHORTEST = {"compiled": 50}   # seconds of a run: what cannot end in what is left is named, not begun and killed
SHORTEST_OF_OTHERS = 12

DROPS = {"attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1}
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
    "gpt2-124m-dropout": (GPT | DROPS, 16, 1024, 24),
}
ON_CPU = {
    "tiny-gpt2": (json.loads((MODELS / "tiny-gpt2.json").read_text()) | DROPS, 2, 64, 8),
    "tiny-llama": (LLAMA | {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
                            "intermediate_size": 96, "vocab_size": 128, "max_position_embeddings": 64}, 2, 64, 8),
}


class Failure(Exception):
    pass


def write_plan(programs, folder, config, batch, sequence, device, call, precision=None, more=()):
    """One device, no recomputation, the microbatch given: what PyTorch does too. more: other words of the command."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    cluster, own = ("h100-80gb-sxm", "bf16") if device == "cuda" else (folder / "cpu.json", "fp32")
    if device != "cuda":
        profile = json.loads((HERE.parents[1] / "profiles/hardware/h100-80gb-sxm.json").read_text())
        for fields in (profile, profile["sources"]):
            fields.pop("handle_workspace", None)   # of cards alone
        cluster.write_text(json.dumps(profile | {"name": "cpu", "kind": "cpu"}))
    call([programs / "meshwright", "plan", "--model", folder / "config.json", "--cluster", cluster, "--devices", 1, "--global-batch", batch,
          "--sequence", sequence, "--precision", precision or own, "--fix", f"microbatch={batch}", "--fix", f"recompute={RECOMPUTE}", *more, "-o",
          folder / "plan.json"])
    return folder / "plan.json"


def write_tokens(path, vocabulary, count=400_000):
    """Numbers of a multiplicative generator: every model sees the same ones."""
    values = array.array("H", ((at * 2654435761 >> 7) % min(vocabulary, 65536) for at in range(count)))
    path.write_bytes(values.tobytes())


def executor(programs, plan, tokens, steps, device, call, *more):
    with tempfile.TemporaryDirectory() as folder:
        call([programs / "meshwright-worker", "run", "--plan", plan, "--data", tokens, "--steps", steps, "--out", folder, "--device", device, "--no-checkpoint",
              *more])
        lines = [json.loads(line) for line in (pathlib.Path(folder) / "metrics.ndjson").read_text().splitlines()]
    figures = {"seconds": [line["step_time_seconds"] for line in lines], "loss": lines[-1]["loss"],
               "requested_bytes": max(line["memory_allocated_bytes"] for line in lines)}
    if "memory_reserved_bytes" in lines[-1]:
        figures["reserved_bytes"] = max(line["memory_reserved_bytes"] for line in lines)
    return figures


def pytorch(plan, tokens, steps, device, how, call):
    return json.loads(call([sys.executable, HERE / "train_gpt.py", plan, tokens, steps, device, how]).splitlines()[-1])


def sides_of(programs, plan, scaled, tokens, steps, device, call):
    """What tells most comes first: a phase may end within the first round. scaled: the plan with products in 8 bit."""
    sides = {"executor": lambda: executor(programs, plan, tokens, steps, device, call),
             "executor_fp8": lambda: executor(programs, scaled, tokens, steps, device, call),
             "executor_graphs": lambda: executor(programs, plan, tokens, steps, device, call, "--cuda-graphs"),
             **{how: lambda how=how: pytorch(plan, tokens, steps, device, how, call) for how in ("strong", "compiled", "eager")}}
    order = ("executor", "strong", "executor_graphs", "compiled", "eager", "executor_fp8") if device == "cuda" else ("executor", "strong", "eager", "executor_fp8")
    return {name: sides[name] for name in order}


def summary(rounds, tokens_a_step):
    seconds = [statistics.median(one["seconds"][WARM_UP:]) for one in rounds]
    rates = [tokens_a_step / time for time in seconds]
    figures = {"tokens_per_second": statistics.median(rates), "half_range": (max(rates) - min(rates)) / 2, "rounds": len(rounds), "loss": rounds[-1]["loss"]}
    for name in ("requested_bytes", "allocated_bytes", "reserved_bytes"):
        if name in rounds[0]:
            figures[name] = max(one[name] for one in rounds)
    return figures


def figures_of(rounds, failures, tokens_a_step):
    """Every side; of our own the ratios to each of the others, by the same allocator's same counter."""
    result = {name: summary(each, tokens_a_step) for name, each in rounds.items() if each}
    ours = [name for name in result if name.startswith("executor")]
    others = [name for name in result if name not in ours]
    for mine in ours:
        for name in others:
            result[f"{mine}_over_{name}"] = result[mine]["tokens_per_second"] / result[name]["tokens_per_second"]
            if "requested_bytes" in result[name]:
                result[f"{mine}_memory_over_{name}"] = result[mine]["requested_bytes"] / result[name]["requested_bytes"]
    return result | ({"failed": failures} if failures else {})


def compare(programs, case, device, call, left):
    """Yields the figures after every run. call: runs a command and returns what it printed, or raises Failure; left: seconds that remain."""
    config, batch, sequence, steps = case
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        plan, scaled = (write_plan(programs, folder / name, config, batch, sequence, device, call, precision) for name, precision in (("plain", None), ("fp8", "fp8:tensorwise")))
        tokens = folder / "tokens.bin"
        write_tokens(tokens, config["vocab_size"])
        sides = sides_of(programs, plan, scaled, tokens, steps, device, call)
        rounds, failures, left_out, longest = {name: [] for name in sides}, {}, [], 0.0
        for number in range(ROUNDS):
            before = left()
            if number > 0 and before < 1.2 * longest:
                return
            for name, side in sides.items():
                if name in failures:
                    continue
                if device == "cuda" and left() < SHORTEST.get(name, SHORTEST_OF_OTHERS):
                    left_out.append(name)
                    continue
                try:
                    rounds[name].append(side())
                except Failure as failure:   # the others go on
                    failures[name] = str(failure)
                yield figures_of(rounds, failures, batch * sequence) | {"samples": batch, "sequence": sequence, "steps": steps, "left_out": left_out}
            longest = max(longest, before - left())
