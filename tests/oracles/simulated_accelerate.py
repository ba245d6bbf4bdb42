"""The same step by Meshwright: a plan of `--software accelerate`, its peak, its ledger and the units that it gathers."""
from simulated import entry, simulated, words


def words_of(case):
    fixed = {"zero": 3, "replicas": case["replicas"], "reshard": str(case["reshard"]).lower(), "reshard_ranks": 1, "layers_per_unit": 1}
    if case["microbatches"] > 1:
        fixed["accumulation"] = "reduce_last"
    return words(case, fixed, case["precision"], "accelerate")


def exchanges(ledger):
    """Without the sum of the norm: a number a parameter there, a block here."""
    return [tuple(entry[1:]) for entry in ledger if entry[0] != "step"]


def simulate_accelerate(program, case):
    result, rows = simulated(program, case, words_of(case), lambda plan: None)
    return {"peak": result["peak_memory_bytes"], "made_of": result["devices"][0]["memory_at_peak_bytes"], "ledger": [entry(row) for row in rows]}


if __name__ == "__main__":
    import json
    import pathlib
    import sys
    made = simulate_accelerate(sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text()))
    print(made["peak"], made["made_of"])
    for line in made["ledger"]:
        print(*line)
