"""DeepSpeed's engine by itself against the simulator: what one rank holds between two steps with ZeRO 0 to 3. Kept answers are replayed; where the program is
installed (cmake/setup.sh programs) some are asked anew, else that is skipped aloud.

Weights, masters and moments are equal up to the padding of each side's parts. Named differences:
- The simulator's optimizer states hold the fp32 gradient of a part, too (owner_gradient_bytes), which the engine makes in the step alone.
- In fp32 with ZeRO 1 to 3 the engine keeps a copy of its part beside the weights (single_partition_of_fp32_groups); the simulator has that gradient there: as many bytes.
usage: engines_test.py MESHWRIGHT
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from installed import PYTHON, why_skipped
from simulated_engine import simulate_engine

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop()
KEPT = json.loads((HERE / "kept_deepspeed.json").read_text())
ROW = 64        # numbers that the simulator's worker pads a part to
SMALL = 4096    # bytes: the table of positions, a step's counters


def padding(case, size):
    """Of a rank's parts, in bytes: a row a unit here; each parameter to the ranks there."""
    units, parameters = case["form"]["layers"] + 2, 9 * case["form"]["layers"] + 3
    return size * (ROW * units + parameters) + SMALL


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            cls.pairs = list(zip(KEPT, threads.map(lambda kept: simulate_engine(PROGRAM, kept["case"]), KEPT)))

    def test_each_stage_is_there(self):
        self.assertEqual({kept["case"]["zero"] for kept in KEPT}, {0, 1, 2, 3})

    def test_weights_are_equal(self):
        for kept, ours in self.pairs:
            case, theirs = kept["case"], kept["bytes"]["step"]
            with self.subTest(seed=kept["seed"]):
                size = 2 if case["precision"] == "bf16" else 4
                slack = padding(case, size) * (1 if case["zero"] == 3 else case["ranks"])
                self.assertLessEqual(abs(ours["parameters"] - theirs["parameters"]), slack, f"{ours} {theirs} {case}")

    def test_states_are_equal(self):
        for kept, ours in self.pairs:
            case, theirs = kept["case"], kept["bytes"]["step"]
            part = theirs["moments"] // 8
            with self.subTest(seed=kept["seed"]):
                states = theirs["moments"] + theirs["masters"]
                has_copy = case["zero"] > 0 and not (case["precision"] == "fp32" and theirs["masters"] > 0)
                slack = padding(case, 16) * (1 if case["zero"] else case["ranks"])
                self.assertLessEqual(abs(ours["optimizer_state"] - states - (4 * part if has_copy else 0)), slack, f"{ours} {theirs} {case}")

    def test_another_stage_is_seen(self):
        kept, ours = next(pair for pair in self.pairs if pair[0]["case"]["zero"] == 3)
        whole = simulate_engine(PROGRAM, {**kept["case"], "zero": 2})
        self.assertGreater(whole["parameters"] - kept["bytes"]["step"]["parameters"], padding(kept["case"], 2))

    def test_the_engine_still_says_what_is_kept(self):
        reason = why_skipped("deepspeed")
        if reason:
            print(f"not asked anew: {reason}", file=sys.stderr)
            self.skipTest(reason)
        some = KEPT[2:4]   # of stages 3 and 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "asked.json"
            subprocess.run([PYTHON, HERE / "ask_deepspeed.py", path, *(str(kept["seed"]) for kept in some)], check=True, capture_output=True,
                           env={**os.environ, "DS_ACCELERATOR": "cpu", "PYTHONPATH": ""})
            self.assertEqual(json.loads(path.read_text()), some)


if __name__ == "__main__":
    unittest.main()
