"""TensorBoard's own reader (PyPI: tensorboard) finds every step of metrics.ndjson in the events, and forgets what a killed run had lost. Skipped aloud without it.

usage: step_events_test.py WORKER PLANS
"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TAGS = {"loss", "grad_norm", "lr", "tokens_per_second", "step_time_seconds", "memory_allocated_bytes"}


def reader():
    """A Python that has TensorBoard, or None: .deps/tensorboard is made by cmake/setup.sh tests."""
    for python in (os.environ.get("MESHWRIGHT_TENSORBOARD"), ROOT / ".deps/tensorboard/bin/python", sys.executable):
        if python and pathlib.Path(python).exists() and subprocess.run([python, "-c", "import tensorboard"], capture_output=True).returncode == 0:
            return python
    return None


READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""


class StepEvents(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        (self.root / "tokens.bin").write_bytes(struct.pack("<600H", *[(at * at + 5 * at) % 31 for at in range(600)]))
        self.run_folder = self.root / "run"

    def train(self, steps, *more):
        command = [WORKER, "run", "--plan", PLANS / "solo.json", "--data", self.root / "tokens.bin", "--steps", str(steps), "--out", self.run_folder, *more]
        return subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=120)

    def scalars(self):
        done = subprocess.run([READER, "-c", READ, self.run_folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def expect_equal(self, scalars):
        lines = [json.loads(line) for line in (self.run_folder / "metrics.ndjson").read_text().splitlines()]
        self.assertEqual(set(scalars), TAGS)
        for tag, points in scalars.items():
            self.assertEqual([step for step, _, _ in points], [line["step"] for line in lines])
            for (_, value, _), line in zip(points, lines):
                self.assertTrue(math.isclose(value, line[tag], rel_tol=1e-6), (tag, value, line[tag]))

    def test_every_step_is_read(self):
        self.assertEqual(self.train(5).returncode, 0)
        self.expect_equal(self.scalars())

    def test_a_run_that_goes_on_forgets_what_was_lost(self):
        self.assertNotEqual(self.train(6, "--kill-at", "save.4.begin").returncode, 0)
        done = self.train(6, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(self.run_folder.glob("events.out.tfevents.*"))), 2)
        self.expect_equal(self.scalars())

    def test_a_damaged_byte_is_seen(self):
        self.assertEqual(self.train(3).returncode, 0)
        file, = self.run_folder.glob("events.out.tfevents.*")
        bytes_ = bytearray(file.read_bytes())
        bytes_[-20] ^= 1
        file.write_bytes(bytes_)
        self.assertLess(len(self.scalars().get("loss", [])), 3)


if __name__ == "__main__":
    PLANS, WORKER = pathlib.Path(sys.argv.pop()), sys.argv.pop()
    READER = reader()
    if READER is None:
        print("skipped: TensorBoard is not here; cmake/setup.sh tests brings it")
        sys.exit(77)
    unittest.main()
