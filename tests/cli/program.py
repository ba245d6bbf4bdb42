"""Starts the real program in a scratch folder and looks at what came out. Used by the tests that judge it from outside.

The program's path is the last argument of the test: it is taken off before unittest sees it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import schemas

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
WORKER = PROGRAM.parent / "meshwright-worker"
MODEL = ROOT / "profiles" / "models" / "tiny-gpt2.json"
SMALL = ["--model", MODEL, "--cluster", "h100-80gb-sxm", "--devices", "4", "--global-batch", "16", "--sequence", "128"]

# Two CPU ranks; the numbers are not measured, and no test depends on them.
MACHINE = {"format": "meshwright.hardware/1", "name": "test-cpu", "kind": "cpu", "source": "a test", "date": "2026-01-01", "memory": "8 GiB",
           "memory_bandwidth": "20 GB/s", "peak": {"fp64": "40 GFLOP/s", "fp32": "80 GFLOP/s"}, "kernel_overhead": "2 us", "devices_per_node": 8, "cores_per_node": 2,
           "overlaps_communication": False, "intra_node": {"type": "shared memory", "latency": "5 us", "bandwidth": "5 GB/s"}}


def words(arguments):
    return [str(PROGRAM), *map(str, arguments)]


class ProgramTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.ours = set()   # files that a test wrote itself, right or wrong
        self.addCleanup(self.judge_files)

    def judge_files(self):
        """Plans and profiles that the program wrote are as their schemas say."""
        for path in self.folder.glob("*.json"):
            if path not in self.ours and path.stat().st_size < 1 << 22:
                content = json.loads(path.read_text())
                if isinstance(content, dict) and content.get("format") in schemas.OF_FILES:
                    self.assertEqual(schemas.faults(content), [], path)

    def run_program(self, *arguments, expect=0, timeout=120, **options):
        done = subprocess.run(words(arguments), cwd=ROOT, text=True, capture_output=True, timeout=timeout, **options)
        self.assertEqual(done.returncode, expect, f"{' '.join(words(arguments))}\n{done.stdout}\n{done.stderr}")
        return done

    def start_program(self, *arguments):
        process = subprocess.Popen(words(arguments), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def document(self, *arguments, expect=0, **options):
        """The one JSON document on stdout; it says which it is."""
        document = json.loads(self.run_program(*arguments, "--json", expect=expect, **options).stdout)
        self.assertRegex(document["format"], r"^meshwright\.[a-z_]+/1$")
        self.assertEqual(schemas.faults(document), [])
        return document

    def write(self, name, content):
        path = self.folder / name
        self.ours.add(path)
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)
        return path

    def make_plan(self, *more, name="plan.json", model=MODEL):
        plan = self.folder / name
        self.run_program("plan", "--model", model, *SMALL[2:], *more, "-o", plan)
        return plan


def main(needs_worker=False):
    if needs_worker and not WORKER.exists():
        print(f"skipped: this build has no worker ({WORKER})")
        sys.exit(77)
    unittest.main()
