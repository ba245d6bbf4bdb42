"""The executor alone against eager PyTorch: compare_speed.py <worker> <plan.json> <tokens.bin> [rounds] [steps]

Rounds are interleaved, the first steps of each are left out, and the ratio is the median over rounds of paired medians.
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


def median_after_warm_up(seconds):
    return statistics.median(seconds[WARM_UP:])


def eager(plan, tokens, steps):
    script = pathlib.Path(__file__).with_name("eager_gpt.py")
    printed = subprocess.run([PYTHON, script, plan, tokens, str(steps)], env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout
    return median_after_warm_up([float(line) for line in printed.split()])


def executor(worker, plan, tokens, steps):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([worker, "run", "--plan", plan, "--data", tokens, "--steps", str(steps), "--out", folder], env=ENVIRONMENT, check=True,
                       capture_output=True)
        lines = (pathlib.Path(folder) / "metrics.ndjson").read_text().splitlines()
    return median_after_warm_up([json.loads(line)["step_time_seconds"] for line in lines])


def main():
    worker, plan, tokens = sys.argv[1:4]
    rounds, steps = (int(word) for word in (sys.argv[4:6] + ["5", "8"][len(sys.argv[4:6]):]))
    workload = json.load(open(plan))["workload"]
    size = workload["global_batch"] * workload["sequence"]
    ratios, ours, theirs = [], [], []
    for _ in range(rounds):
        theirs.append(eager(plan, tokens, steps))
        ours.append(executor(worker, plan, tokens, steps))
        ratios.append(theirs[-1] / ours[-1])
        print(f"eager {size / theirs[-1]:.0f} tokens/s, executor {size / ours[-1]:.0f} tokens/s, ratio {ratios[-1]:.3f}", flush=True)
    spread = (max(ratios) - min(ratios)) / 2
    print(f"median ratio {statistics.median(ratios):.3f} +- {spread:.3f} over {rounds} rounds")


if __name__ == "__main__":
    main()
