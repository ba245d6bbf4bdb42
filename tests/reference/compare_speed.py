"""The executor alone against eager PyTorch: compare_speed.py <worker> <plan.json> <tokens.bin> [rounds] [steps]

Rounds are interleaved, who begins takes turns, the first steps of each are left out, and the ratio is the median over rounds of paired medians. Beside it
stands the ratio of the fastest steps: other work on the machine only adds time, so they say more where it is not quiet.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

WARM_UP = 2
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
PYTHON = pathlib.Path(__file__).parents[2] / ".deps/venv/bin/python"


def eager(plan, tokens, steps):
    script = pathlib.Path(__file__).with_name("eager_gpt.py")
    printed = subprocess.run([PYTHON, script, plan, tokens, str(steps)], env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout
    return [float(line) for line in printed.split()][WARM_UP:]


def executor(worker, plan, tokens, steps):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([worker, "run", "--plan", plan, "--data", tokens, "--steps", str(steps), "--out", folder], env=ENVIRONMENT, check=True,
                       capture_output=True)
        lines = (pathlib.Path(folder) / "metrics.ndjson").read_text().splitlines()
    return [json.loads(line)["step_time_seconds"] for line in lines][WARM_UP:]


def main():
    worker, plan, tokens = sys.argv[1:4]
    rounds, steps = (int(word) for word in (sys.argv[4:6] + ["5", "8"][len(sys.argv[4:6]):]))
    workload = json.load(open(plan))["workload"]
    size = workload["global_batch"] * workload["sequence"]
    ours, theirs = [], []
    for turn in range(rounds):
        sides = [(theirs, lambda: eager(plan, tokens, steps)), (ours, lambda: executor(worker, plan, tokens, steps))]
        for found, measured in sides if turn % 2 == 0 else reversed(sides):
            found.append(measured())
        seconds = [statistics.median(found[-1]) for found in (theirs, ours)]
        print(f"eager {size / seconds[0]:.0f} tokens/s, executor {size / seconds[1]:.0f} tokens/s, ratio {seconds[0] / seconds[1]:.3f}", flush=True)
    ratios = [statistics.median(a) / statistics.median(b) for a, b in zip(theirs, ours)]
    fastest = min(map(min, theirs)) / min(map(min, ours))
    print(f"median ratio {statistics.median(ratios):.3f} +- {(max(ratios) - min(ratios)) / 2:.3f} over {rounds} rounds; of the fastest steps {fastest:.3f}")


if __name__ == "__main__":
    main()
