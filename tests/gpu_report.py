"""Joins what a run on a GPU left behind into one JSON report: device, driver, versions, tests, figures.

usage: gpu_report.py PARTS REPORT    PARTS: folder of *.json, each under its name in the report, and tests/*.json of GoogleTest
Exit code 1 if a test failed or was skipped: on a machine with a GPU nothing may be skipped silently.
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
    """Every test of GoogleTest's reports: name -> passed, failed, skipped."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        for suite in json.loads(path.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                state = "failed" if test.get("failures") else "skipped" if test["result"] == "SKIPPED" else "passed"
                found[f"{suite['name']}.{test['name']}"] = state
    return found


def report(parts):
    figures = {path.stem: json.loads(path.read_text()) for path in sorted(parts.glob("*.json"))}
    return {"made": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "machine": machine(), "tests": tests(parts / "tests"),
            **figures}


def main(parts, path):
    made = report(pathlib.Path(parts))
    pathlib.Path(path).write_text(json.dumps(made, indent=2) + "\n")
    bad = [name for name, state in made["tests"].items() if state != "passed"]
    print(f"{len(made['tests'])} tests, not passed: {', '.join(bad) or 'none'}")
    for row in made.get("kernels", {}).get("kernels", []):
        print(f"{row['kernel']:40} {row['bytes_per_second'] / 1e12:6.2f} TB/s  {row['share_of_copy']:6.1%} of a copy")
    return 1 if bad or not made["tests"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
