"""The same step by Meshwright: a case becomes a plan of `--software torchtitan-2025`, and its peak and ledger come from `meshwright simulate`."""
import csv
import json
import pathlib
import subprocess
import tempfile

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": False, "hidden_act": "silu", "rms_norm_eps": 1e-5,
          "rope_theta": 10000.0, "tie_word_embeddings": False, "initializer_range": 0.02}


def config_of(case):
    form = case["form"]
    return {**CONFIG, "hidden_size": form["hidden"], "intermediate_size": form["ffn"], "max_position_embeddings": case["sequence"],
            "num_attention_heads": form["heads"], "num_hidden_layers": form["layers"], "num_key_value_heads": form["kv_heads"], "vocab_size": form["vocabulary"]}


def words_of_tensor(case):
    samples = case["microbatch"] * case["microbatches"]
    fixed = {"data": 1, "zero": 0, "microbatch": case["microbatch"], "tensor": case["tensor"], "sequence_parallel": "true", "pipeline": 1, "context": 1,
             "recompute": case["recompute"]}
    words = ["--cluster", "h200-141gb-sxm", "--devices", case["tensor"], "--global-batch", samples, "--sequence", case["sequence"],
             "--software", "torchtitan-2025", "--precision", "fp32", "--vocabulary-multiple", case["tensor"], "--risk", "100 %"]
    for axis, value in fixed.items():
        words += ["--fix", f"{axis}={value}"]
    return words


def words_of_data(case):
    """DistributedDataParallel; the plan's buckets are written into it, since no search is for them."""
    fixed = {"data": case["ranks"], "zero": 0, "microbatch": case["microbatch"], "tensor": 1, "pipeline": 1, "context": 1, "replicas": 1,
             "recompute": case["recompute"]}
    if case["microbatches"] > 1:
        fixed["accumulation"] = "reduce_each" if case["reduce_each"] else "reduce_last"
    samples = case["ranks"] * case["microbatch"] * case["microbatches"]
    words = ["--cluster", "h200-141gb-sxm", "--devices", case["ranks"], "--global-batch", samples, "--sequence", case["sequence"],
             "--software", "torchtitan-2025", "--precision", "fp32", "--vocabulary-multiple", 1, "--risk", "100 %"]
    for axis, value in fixed.items():
        words += ["--fix", f"{axis}={value}"]
    return words


def take_buckets(plan, case):
    buckets = {"bucket_size": f"{case['bucket_mib']} MiB"} if case["bucket_mib"] else {"bucket_size": "25 MiB", "first_bucket_size": "1 MiB"}
    plan.write_text(json.dumps({**json.loads(plan.read_text()), **buckets}))


def words_of(case):
    if "ranks" not in case:
        return words_of_tensor(case)
    if "bucket_mib" in case:
        return words_of_data(case)
    tensor = case.get("tensor", 1)
    again = {"recompute": "selective", "recompute_scope": "modules op"} if case["recompute"] == "op" else {"recompute": case["recompute"]}
    fixed = {"data": case["ranks"], "zero": 3, "microbatch": case["microbatch"], "tensor": tensor, "pipeline": 1, "context": 1, "replicas": 1,
             "reshard": str(case["reshard"]).lower(), "reshard_ranks": 1, "layers_per_unit": case["blocks_per_unit"], **again}
    if case["microbatches"] > 1:
        fixed["accumulation"] = "reduce_each" if case["reduce_each"] else "reduce_last"
    if tensor > 1:
        fixed["sequence_parallel"] = "true"
    samples = case["ranks"] * case["microbatch"] * case["microbatches"]
    words = ["--cluster", "h200-141gb-sxm", "--devices", case["ranks"] * tensor, "--global-batch", samples, "--sequence", case["sequence"],
             "--software", "torchtitan-2025", "--precision", "bf16 gradients=fp32", "--vocabulary-multiple", tensor, "--risk", "100 %"]
    for axis, value in fixed.items():
        words += ["--fix", f"{axis}={value}"]
    return words


def entry(row):
    task = row["task"].split(".")
    return [task[4], task[5], int(row["bytes"])]


def simulate(program, case):
    """The peak in bytes, what it is made of, and [phase, collective, bytes] of rank 0 in issue order."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "config.json").write_text(json.dumps(config_of(case)))
        plan, ledger = folder / "plan.json", folder / "ledger.csv"

        def run(*arguments):
            done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
            return done.stdout

        run("plan", "--model", folder / "config.json", *words_of(case), "-o", plan)
        if "bucket_mib" in case:
            take_buckets(plan, case)
        result = json.loads(run("simulate", plan, "--json", "--ledger", ledger))["result"]
        with ledger.open() as text:
            rows = list(csv.DictReader(text.readlines()[1:]))
    return {"peak": result["peak_memory_bytes"], "made_of": result["devices"][0]["memory_at_peak_bytes"], "ledger": [entry(row) for row in rows]}


if __name__ == "__main__":
    import sys
    made = simulate(sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text()))
    print(made["peak"], made["made_of"])
    for line in made["ledger"]:
        print(*line)
