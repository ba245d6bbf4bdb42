"""FSDP 2 by torch itself against the simulator. Kept answers are replayed; a few are asked anew, so that what is kept stays what torch says.

With one microbatch every collective is equal, entry by entry, up to the padding: torch pads each parameter's rows to the ranks, a bucket of the
simulator is padded to 64 elements a rank and slot. docs/figures/oracles.md has what still differs: more microbatches, and the peak.
What tensor ranks exchange is equal byte by byte.
"""
import json
import pathlib
import subprocess
import sys
import unittest
from collections import Counter

from simulated import simulate

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM, TORCH = sys.argv.pop(), sys.executable
KEPT = json.loads((HERE / "kept.json").read_text())
KEPT_TENSOR = json.loads((HERE / "kept_tensor.json").read_text())   # of ask_tensor.py
ASKED = 3
# The simulator's peak over torch's: what stands in docs/figures/oracles.md today. Lower both when a difference is mended.
LARGEST, MEDIAN = 0.70, 0.20


def exchanges(ledger):
    return [tuple(entry[1:]) for entry in ledger if entry[1] != "all_reduce"]   # of gradients and weights; the norm's sum apart


def pad(case, kind):
    slots = 64 * (2 + 9 * case["blocks_per_unit"])
    return (4 if kind == "reduce_scatter" else 2) * (64 * case["ranks"] + slots)


def difference(case, simulated, asked):
    """The first entry that is not the same, in words; None: there is none."""
    ours, torchs = exchanges(simulated), exchanges(asked)
    for at, (mine, its) in enumerate(zip(ours, torchs)):
        if mine[0] != its[0] or abs(mine[1] - its[1]) > pad(case, mine[0]):
            return f"entry {at}: simulated {mine}, torch {its}"
    return None if len(ours) == len(torchs) else f"simulated {len(ours)} entries, torch {len(torchs)}"


class Oracles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = [(kept, simulate(PROGRAM, kept["case"])) for kept in KEPT]

    def test_ledger_of_one_microbatch_is_equal(self):
        judged = 0
        for kept, made in self.pairs:
            if kept["case"]["microbatches"] > 1:
                continue
            judged += 1
            self.assertIsNone(difference(kept["case"], made["ledger"], kept["ledger"]), kept)
        self.assertGreaterEqual(judged, 5)

    def test_a_changed_ledger_is_seen(self):
        kept, made = next(pair for pair in self.pairs if pair[0]["case"]["microbatches"] == 1)
        case, entries = kept["case"], made["ledger"]
        self.assertIsNotNone(difference(case, entries[1:], kept["ledger"]), "a gather is missing")
        doubled = [[phase, kind, 2 * size] for phase, kind, size in entries]
        self.assertIsNotNone(difference(case, doubled, kept["ledger"]), "bytes of fp32 for 16 bit")
        swapped = [entries[0], *reversed(entries[1:])]
        self.assertIsNotNone(difference(case, swapped, kept["ledger"]), "another order")

    def test_peak_stays_as_near_as_it_is(self):
        errors = sorted(abs(made["peak"] / max(kept["peaks"].values()) - 1) for kept, made in self.pairs)
        self.assertLessEqual(errors[-1], LARGEST)
        self.assertLessEqual(errors[len(errors) // 2], MEDIAN)

    # torch.distributed.tensor. A loss over a cut vocabulary takes three small sums there and two here: left out. Of a recomputed block torch gathers the
    # gradient before it begins to compute again, the simulator's worker after: the same exchanges in another order.
    def test_tensor_ranks_exchange_the_same(self):
        orders = 0
        for kept in KEPT_TENSOR:
            with self.subTest(seed=kept["seed"]):
                ours, torchs = exchanges(simulate(PROGRAM, kept["case"])["ledger"]), exchanges(kept["ledger"])
                self.assertEqual(Counter(ours), Counter(torchs), kept["case"])
                if kept["case"]["recompute"] == "none":
                    orders += 1
                    self.assertEqual(ours, torchs, kept["case"])
        self.assertGreaterEqual(orders, 20)

    def test_torch_still_says_what_is_kept(self):
        path = pathlib.Path(self.enterContext(__import__("tempfile").TemporaryDirectory())) / "asked.json"
        subprocess.run([TORCH, HERE / "keep.py", path, f"1-{ASKED}"], check=True)
        self.assertEqual(json.loads(path.read_text()), KEPT[:ASKED])
        subprocess.run([TORCH, HERE / "ask_tensor.py", path, "1-3"], check=True)
        self.assertEqual(json.loads(path.read_text()), KEPT_TENSOR[:3])


if __name__ == "__main__":
    unittest.main()
