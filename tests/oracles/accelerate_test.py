"""Accelerate's FSDP 2 by itself against the simulator: which units it makes of a llama of Transformers, what it gathers and reduces in which types, and the peak
of a step. Kept answers are replayed; where the program is installed (cmake/setup.sh programs) some are asked anew, else that is skipped aloud.
usage: accelerate_test.py MESHWRIGHT
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
from simulated_accelerate import exchanges, simulate_accelerate

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = sys.argv.pop()
KEPT = json.loads((HERE / "kept_accelerate.json").read_text())
LARGEST, MEDIAN = 0.12, 0.05   # of the peak: a block's gradients come at once here


class Accelerate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            cls.pairs = list(zip(KEPT, threads.map(lambda kept: simulate_accelerate(PROGRAM, kept["case"]), KEPT)))

    def test_units_are_embedding_blocks_and_tail(self):
        for kept in KEPT:
            form, reshard = kept["case"]["form"], kept["case"]["reshard"]
            head = form["hidden"] * form["vocabulary"]
            self.assertEqual([kept["units"][0], kept["units"][-1]], [[head, reshard], [head + form["hidden"], False]])
            self.assertEqual(len(kept["units"]), form["layers"] + 2)
            self.assertEqual({stays for _, stays in kept["units"][:-1]}, {reshard})

    def test_ledgers_are_equal(self):
        self.assertGreaterEqual(len(KEPT), 24)
        for kept, made in self.pairs:
            with self.subTest(seed=kept["seed"]):
                self.assertEqual(exchanges(made["ledger"]), exchanges(kept["ledger"]), kept["case"])

    def test_peaks_are_near(self):
        errors = []
        for kept, made in self.pairs:
            errors.append(abs(made["peak"] / max(kept["peaks"].values()) - 1))
            with self.subTest(seed=kept["seed"]):
                self.assertLessEqual(errors[-1], LARGEST, f"{made} {kept['peaks']} {kept['case']}")
        self.assertLessEqual(sorted(errors)[len(errors) // 2], MEDIAN)

    def test_other_types_are_seen(self):
        kept = next(kept for kept in KEPT if kept["case"]["precision"] == "bf16")
        self.assertNotEqual(exchanges(simulate_accelerate(PROGRAM, {**kept["case"], "precision": "fp32"})["ledger"]), exchanges(kept["ledger"]))

    def test_the_program_still_says_what_is_kept(self):
        reason = why_skipped("accelerate")
        if reason:
            print(f"not asked anew: {reason}", file=sys.stderr)
            self.skipTest(reason)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "asked.json"
            subprocess.run([PYTHON, HERE / "ask_accelerate.py", path, "3", "9"], check=True, capture_output=True, env={**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1"})
            self.assertEqual(json.loads(path.read_text()), [kept for kept in KEPT if kept["seed"] in (3, 9)])


if __name__ == "__main__":
    unittest.main()
