"""Joins what a run on a GPU left behind into one JSON report: device, driver, versions, tests, figures.

usage: gpu_report.py PARTS REPORT    PARTS: folder of *.json, each under its name in the report, and tests/*.json of GoogleTest
Exit code 1 if a test failed or none was run. What was skipped (MPI may be missing) is named.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys


def output(*command):
    """What a program prints, or None where it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def matched(pattern, text):
    found = re.search(pattern, text or "")
    return found.group(1) if found else None


def machine():
    query = output("nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader")
    names = ("device", "driver", "memory", "compute_capability")
    gpus = [dict(zip(names, re.split(r",\s*", line))) for line in (query or "").splitlines()]
    return {"gpus": gpus, "cuda_compiler": matched(r"release ([\d.]+)", output("nvcc", "--version") or output("/usr/local/cuda/bin/nvcc", "--version")),
            "torch": output(sys.executable, "-c", "import importlib.metadata as m; print(m.version('torch'))"),
            "compiler": matched(r"^(.*)", output("g++", "--version")), "cmake": matched(r"([\d.]+)", output("cmake", "--version")),
            "commit": output("git", "rev-parse", "HEAD")}


def tests(folder):
    """GoogleTest's reports: program -> test -> passed, failed, skipped."""
    def state(test):
        return "failed" if test.get("failures") else "skipped" if test["result"] == "SKIPPED" else "passed"

    return {path.stem: {f"{suite['name']}.{test['name']}": state(test) for suite in json.loads(path.read_text())["testsuites"] for test in suite["testsuite"]}
            for path in sorted(folder.glob("*.json"))}


def part(path):
    """What a program wrote; of one that broke off, the text: the report holds the rest all the same."""
    try:
        return json.loads(path.read_text())
    except json.JSONDecodeError:
        return {"unreadable": path.read_text()}


def report(parts):
    figures = {path.stem: part(path) for path in sorted(parts.glob("*.json"))}
    return {"made": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": machine(), "tests": tests(parts / "tests"),
            **figures}


def main(parts, path):
    made = report(pathlib.Path(parts))
    pathlib.Path(path).write_text(json.dumps(made, indent=2) + "\n")
    states = [(state, f"{program} {name}") for program, found in made["tests"].items() for name, state in found.items()]
    for wanted in ("passed", "skipped", "failed"):
        names = [name for state, name in states if state == wanted]
        print(f"{len(names)} tests {wanted}", *(names if wanted != "passed" else []), sep="\n  ")
    for row in made.get("kernels", {}).get("kernels", []):
        print(f"{row['kernel']:40} {row['bytes_per_second'] / 1e12:6.2f} TB/s  {row['share_of_copy']:6.1%} of a copy")
    return 1 if not states or any(state == "failed" for state, _ in states) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
