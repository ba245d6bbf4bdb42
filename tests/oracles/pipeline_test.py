"""torch.distributed.pipelining by torch itself against the simulator: PipelineStage and its schedules over FSDP 2. Kept answers are replayed, some asked anew.

Every message of every rank is equal: what it sends in the same order, what it receives from each neighbour in the same order; every gather and
reduction, too. The peak of each rank is equal up to a percent, with three differences that are named and held:
- Schedule1F1B of torch keeps the gradient that it sent last in a variable, until it sends the next: one message more.
- What is reduced at the step's end torch reduces from the first unit of a stage to the last, the simulator from the last to the first.
- In the weights' half of a backward torch frees and makes product by product, the simulator segment by segment.
usage: pipeline_test.py MESHWRIGHT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from pipeline_cases import SPLITS
from simulated_pipeline import simulate_pipeline

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop()
KEPT = json.loads((HERE / "kept_pipeline.json").read_text())
ANEW = (13,)   # of the smallest: two stages a rank, and halves
LARGEST, MEDIAN = 0.01, 0.001   # of the peak
AT_REDUCTION, OF_HALVES = 0.03, 0.08   # where it stands in the last reductions; of a backward in halves


def part_of(messages, kind):
    return [each for each in messages.split() if kind in each]


def received_from(case, rank, messages):
    """By the rank that sent it and the phase: a link keeps its order, two links have none."""
    flows = {}
    for each in part_of(messages, "<"):
        stage = int(each[2:].split(".")[0])
        flows.setdefault((each[0], stage), []).append(each)
    return flows


class Pipelines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            cls.made = list(threads.map(lambda kept: simulate_pipeline(PROGRAM, kept), KEPT))
        cls.ranks = [(kept, rank, its, ours) for kept, made in zip(KEPT, cls.made) for rank, (its, ours) in enumerate(zip(kept["ranks"], made))]

    def test_every_schedule_is_there(self):
        self.assertGreaterEqual(len(KEPT), 21)
        self.assertGreaterEqual(min(Counter(kept["case"]["schedule"] for kept in KEPT).values()), 3)

    def test_messages_are_equal(self):
        for kept, rank, its, ours in self.ranks:
            with self.subTest(seed=kept["seed"], rank=rank):
                self.assertEqual(ours["message_bytes"], [its["message_bytes"]], kept["case"])
                self.assertEqual(part_of(ours["messages"], ">"), part_of(its["messages"], ">"), kept["case"])
                self.assertEqual(received_from(kept["case"], rank, ours["messages"]), received_from(kept["case"], rank, its["messages"]), kept["case"])
                if kept["case"]["chunks"] == 1:
                    self.assertEqual(ours["messages"], its["messages"], kept["case"])

    def test_gathers_and_reductions_are_equal(self):
        for kept, rank, its, ours in self.ranks:
            with self.subTest(seed=kept["seed"], rank=rank):
                self.assertEqual(Counter(map(tuple, ours["collectives"])), Counter(map(tuple, its["collectives"])), kept["case"])

    def test_peaks_are_equal(self):
        errors = []
        for kept, rank, its, ours in self.ranks:
            case = kept["case"]
            error = ours["peak"] / its["peak"] - 1
            if case["schedule"] in SPLITS:
                allowed = OF_HALVES
            else:
                allowed = AT_REDUCTION if its["flight"] == 0 and its["parts"]["gradients"] > 0 else LARGEST
                errors.append(abs(error))
            if case["schedule"] == "1f1b" and rank > 0 and error < 0:
                error += its["message_bytes"] / its["peak"]
            with self.subTest(seed=kept["seed"], rank=rank):
                self.assertLessEqual(abs(error), allowed, f"simulated {ours['peak']}, torch {its['peak']}: {ours['parts']} {its['parts']} {case}")
        self.assertLessEqual(sorted(errors)[len(errors) // 2], MEDIAN)

    def test_another_order_is_seen(self):
        kept = next(kept for kept in KEPT if kept["case"]["schedule"] == "1f1b" and kept["case"]["microbatches"] > kept["case"]["pipeline"] + 1)
        other = simulate_pipeline(PROGRAM, {**kept, "case": {**kept["case"], "schedule": "gpipe"}})
        self.assertNotEqual(other[0]["messages"], kept["ranks"][0]["messages"])
        self.assertGreater(abs(other[0]["peak"] / kept["ranks"][0]["peak"] - 1), LARGEST)

    def test_torch_still_says_what_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "asked.json"
            subprocess.run([sys.executable, HERE / "ask_pipeline.py", path, *map(str, ANEW)], check=True, capture_output=True)
            self.assertEqual(json.loads(path.read_text()), [next(kept for kept in KEPT if kept["seed"] == seed) for seed in ANEW])


if __name__ == "__main__":
    unittest.main()
