"""The whole loop over every composition: run it, compare it. Keys and ledger must be equal, the predicted peak of memory the measured one.

loop_test.py <plans/loop> <meshwright>                 the test
loop_test.py <plans/loop> <meshwright> --table         prints the table of executor/README.md
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

MEMORY_ERROR = 0.02
BF16_WORKSPACE = 24 << 10   # of the matrix library's bf16 products of these shapes, which nobody predicts; it grows to 1 MiB and stays there
PLANS, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]


def call(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def perform(plan, root):
    """Problems of one plan, and its error of memory."""
    folder = root / plan.stem
    call("run", plan, "--data", root / "tokens.bin", "--steps", 3, "-o", folder)
    compared = json.loads(call("compare", folder, "--json"))
    memory = compared["memory_simulated_bytes"] / compared["memory_measured_bytes"] - 1
    problems = [f"{side}: {compared[side][:3]}" for side in ("only_simulated", "only_measured") if compared[side]]
    if not compared["ledger_equal"]:
        problems.append("ledger: " + compared["ledger_difference"])
    workspace = BF16_WORKSPACE if "bf16" in plan.stem else 0
    if abs(memory) > MEMORY_ERROR + workspace / compared["memory_measured_bytes"]:
        problems.append(f"memory: {compared['memory_simulated_bytes']} simulated, {compared['memory_measured_bytes']} measured")
    return problems, memory


def main():
    plans = sorted(PLANS.glob("*.json"))
    failed = 0 if plans else 1
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        tokens = [(at * at + 5 * at) % 31 for at in range(600)]
        (root / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
        for plan in plans:
            problems, memory = perform(plan, root)
            failed += len(problems)
            print(f"{plan.stem:40} memory {memory:+.1%}  {'; '.join(problems) or 'keys and ledger equal'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
