"""What simulating costs: every rank of a large plan by itself, the same folded, a hundred thousand GPUs, a slow rank. Writes its table into docs/figures/engine.md. Wall time and memory of the whole program, one thread, best of three.

usage: engine_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import marks

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "profiles" / "models"
LLAMA = dict(model="llama-3-70b", devices=1024, batch=256, sequence=4096, fix=dict(data=32, tensor=8, pipeline=4, microbatch=1, schedule="1f1b", zero=1))
TRILLION = dict(model="gpt-1t", devices=100352, batch=196 * 256, sequence=2048,
                fix=dict(data=196, tensor=8, pipeline=64, microbatch=1, schedule="1f1b", zero=1, sequence_parallel="true", recompute="full"))


def plan(program, folder, question):
    path = folder / (question["model"] + ".json")
    fixed = [word for axis, value in question["fix"].items() for word in ("--fix", f"{axis}={value}")]
    subprocess.run([program, "plan", "--model", MODELS / (question["model"] + ".json"), "--cluster", "h100-80gb-sxm", "--devices", str(question["devices"]),
                    "--global-batch", str(question["batch"]), "--sequence", str(question["sequence"]), *fixed, "--top", "1", "-o", path],
                   check=True, capture_output=True)
    return path


def simulated(program, path, *options):
    """(seconds, MiB, result) of the program, best of three."""
    best, most = float("inf"), 0
    for _ in range(3):
        with tempfile.TemporaryFile("w+") as out:
            start = time.monotonic()
            process = subprocess.Popen([program, "simulate", path, "--json", *options], stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
            best, most = min(best, time.monotonic() - start), max(most, usage.ru_maxrss / 1024)
            if status != 0:
                raise SystemExit(f"simulate {path} ended with {status}")
            out.seek(0)
            result = json.load(out)["result"]
    return best, most, result


def equal(folded, unfolded):
    by_stage = {device["stage"]: device for device in folded["devices"]}
    same = all(device[key] == by_stage[device["stage"]][key] for device in unfolded["devices"]
               for key in ("busy_seconds", "communication_seconds", "exposed_communication_seconds", "peak_memory_bytes"))
    return same and folded["step_time_seconds"] == unfolded["step_time_seconds"]


def rows(program):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        llama, trillion = plan(program, folder, LLAMA), plan(program, folder, TRILLION)
        folded_s, folded_mib, folded = simulated(program, llama)
        slow_s, slow_mib, slow = simulated(program, llama, "--slow-rank", "300=1.5")
        large_s, large_mib, large = simulated(program, trillion)
        every_s, every_mib, every = simulated(program, llama, "--every-rank")
    yield "| simulated | tasks | seconds | MiB | |\n|---|---|---|---|---|"
    yield (f"| 1,024 ranks (80 layers, hidden 8192, D32 T8 P4, 8 microbatches), each by itself | {every['tasks']:,} | {every_s:.2f} | {every_mib:.0f} | |")
    yield (f"| the same, folded | {folded['tasks']:,} | {folded_s:.3f} | {folded_mib:.0f} | "
           f"step, busy and communication times and memory peaks of every rank {'equal' if equal(folded, every) else 'NOT EQUAL'} |")
    yield (f"| the same with rank 300 computing 1.5 times as long | {slow['tasks']:,} | {slow_s:.3f} | {slow_mib:.0f} | step "
           f"{slow['undisturbed_step_time_seconds']:.3f} s -> {slow['step_time_seconds']:.3f} s |")
    yield f"| 100,352 GPUs (1T parameters, D196 T8 P64, 256 microbatches), folded | {large['tasks']:,} | {large_s:.2f} | {large_mib:.0f} | |"


if __name__ == "__main__":
    marks.between(ROOT / "docs" / "figures" / "engine.md", "engine", "\n".join(rows(*sys.argv[1:])))
