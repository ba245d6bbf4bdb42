"""One phase's report: a JSON file that is whole after every figure, so that a phase that is killed leaves what it has.

Holds the machine first: device, driver, clocks, versions. Written aside and renamed.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERY = ("name", "uuid", "driver_version", "memory.total", "compute_cap", "clocks.sm", "clocks.mem", "clocks.max.sm", "power.limit", "temperature.gpu", "ecc.mode.current",
         "mig.mode.current")


def output(*command):
    """What a program prints, or None where it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def matched(pattern, text):
    found = re.search(pattern, text or "")
    return found.group(1) if found else None


def gpus():
    """Each GPU of this machine as nvidia-smi names it; none where there is no nvidia-smi."""
    lines = output("nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader")
    return [dict(zip(QUERY, re.split(r",\s*", line))) for line in (lines or "").splitlines()]


def machine():
    return {"gpus": gpus(), "cuda_compiler": matched(r"release ([\d.]+)", output("nvcc", "--version") or output("/usr/local/cuda/bin/nvcc", "--version")),
            "torch": output(sys.executable, "-c", "import importlib.metadata as m; print(m.version('torch'))"),
            "compiler": matched(r"^(.*)", output("g++", "--version")), "cmake": matched(r"([\d.]+)", output("cmake", "--version")),
            "cores": os.cpu_count(), "commit": output("git", "-C", str(ROOT), "rev-parse", "HEAD")}


class Report:
    """Where the folder takes no more, figures go to standard output, a line each: what was measured is worth more than its place."""

    def __init__(self, path):
        self.path, self.figures, self.failures = pathlib.Path(path), {}, []
        self.put("made", datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"))
        self.put("ended", False)
        self.put("machine", machine())

    def put(self, name, value):
        self.figures[name] = value
        aside = self.path.with_suffix(".part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(json.dumps(self.figures, indent=1) + "\n")
            aside.replace(self.path)
        except OSError as error:
            print(json.dumps({"report": self.path.stem, "not_written": str(error), name: value}), flush=True)

    def fail(self, sentence):
        self.failures.append(sentence)
        self.put("failures", self.failures)
        print(f"gpu: {sentence}", file=sys.stderr, flush=True)
