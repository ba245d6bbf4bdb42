"""The same step by Meshwright: a case becomes a plan of `--software torchtitan-2026`, and its peak and ledger come from `meshwright simulate`."""
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


def words(case, fixed, precision, software="torchtitan-2026"):
    """Of plan, with these axes fixed."""
    data, tensor = case.get("ranks", 1), case.get("tensor", 1)
    samples = data * case["microbatch"] * case["microbatches"]
    fixed = {"data": data, "microbatch": case["microbatch"], "tensor": tensor, "pipeline": 1, "context": 1, "recompute": case["recompute"], **fixed}
    if tensor > 1:
        fixed["sequence_parallel"] = "true"
    if "reduce_each" in case and case["microbatches"] > 1:
        fixed["accumulation"] = "reduce_each" if case["reduce_each"] else "reduce_last"
    return ["--cluster", "h200-141gb-sxm", "--devices", data * tensor * fixed["pipeline"], "--global-batch", samples, "--sequence", case["sequence"],
            "--software", software, "--precision", precision, "--vocabulary-multiple", tensor, "--risk", "100 %",
            *(word for axis, value in fixed.items() for word in ("--fix", f"{axis}={value}"))]


def words_of(case):
    if "ranks" not in case:   # tensor ranks alone
        return words(case, {"zero": 0}, "fp32")
    if "bucket_mib" in case:  # DistributedDataParallel
        return words(case, {"zero": 0, "replicas": 1}, "fp32")
    again = {"recompute": "selective", "recompute_scope": "modules op"} if case["recompute"] == "op" else {}
    fixed = {"zero": 3, "replicas": case.get("replicas", 1), "reshard": str(case["reshard"]).lower(), "reshard_ranks": case.get("near", 1), "layers_per_unit": case["blocks_per_unit"], **again}
    return words(case, fixed, "bf16 gradients=fp32")


def take_buckets(plan, case):
    """No search is for the sizes of buckets."""
    buckets = {"bucket_size": f"{case['bucket_mib']} MiB"} if case["bucket_mib"] else {"bucket_size": "25 MiB", "first_bucket_size": "1 MiB"}
    plan.write_text(json.dumps({**json.loads(plan.read_text()), **buckets}))


def entry(row):
    task = row["task"].split(".")
    return [task[4], task[5], int(row["bytes"])]


def simulated(program, case, of_plan, settle):
    """The result and the rows of the ledger of the plan that these words give, settled before it is simulated."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "config.json").write_text(json.dumps(config_of(case)))
        plan, ledger = folder / "plan.json", folder / "ledger.csv"

        def run(*arguments):
            done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{case}\n{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
            return done.stdout

        run("plan", "--model", folder / "config.json", *of_plan, "-o", plan)
        settle(plan)
        result = json.loads(run("simulate", plan, "--json", "--ledger", ledger))["result"]
        return result, list(csv.DictReader(ledger.read_text().splitlines()[1:]))


def simulate(program, case):
    """The peak in bytes, what it is made of, and [phase, collective, bytes] of rank 0 in issue order."""
    def settle(plan):
        if "bucket_mib" in case:
            take_buckets(plan, case)

    result, rows = simulated(program, case, words_of(case), settle)
    return {"peak": result["peak_memory_bytes"], "made_of": result["devices"][0]["memory_at_peak_bytes"], "ledger": [entry(row) for row in rows]}


if __name__ == "__main__":
    import sys
    made = simulate(sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text()))
    print(made["peak"], made["made_of"])
    for line in made["ledger"]:
        print(*line)
