"""FSDP 2 and DistributedDataParallel by torch itself against the simulator. Kept answers are replayed; twenty are asked anew, so that what is kept stays what torch says.

Every collective of gradients and weights is equal, entry by entry and byte by byte; the peak of forward and backward is equal up to a percent. What
torch sums of gradients' norms (a number for each parameter) is left out: the simulator sums what its own worker does.
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from simulated import simulate

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM, TORCH = sys.argv.pop(), sys.executable
KEPT = json.loads((HERE / "kept.json").read_text())
KEPT_MESH = json.loads((HERE / "kept_mesh.json").read_text())       # tensor ranks inside
KEPT_OPERATORS = json.loads((HERE / "kept_operators.json").read_text())   # blocks made again operator by operator
KEPT_HYBRID = json.loads((HERE / "kept_hybrid.json").read_text())   # copies of shards, weights cut over neighbours after the forward
KEPT_DATA = json.loads((HERE / "kept_ddp.json").read_text())   # of ask_ddp.py
KEPT_TENSOR = json.loads((HERE / "kept_tensor.json").read_text())   # of ask_tensor.py
ASKED = 20
LARGEST, MEDIAN = 0.01, 0.0005   # of the peak
LARGEST_OF_DATA, MEDIAN_OF_DATA = 0.08, 0.012   # a layer's gradients come at once, torch's one by one
PADDING = 0.004   # of gradients in buckets


def exchanges(ledger):
    return [tuple(entry[1:]) for entry in ledger if entry[1] != "all_reduce"]   # the norm's sum apart


def difference(simulated, asked):
    """The first entry that is not the same, in words; None: there is none."""
    ours, torchs = exchanges(simulated), exchanges(asked)
    for at, (mine, its) in enumerate(zip(ours, torchs)):
        if mine != its:
            return f"entry {at}: simulated {mine}, torch {its}"
    return None if len(ours) == len(torchs) else f"simulated {len(ours)} entries, torch {len(torchs)}"


def sums(ledger):
    return [size for phase, kind, size in ledger if kind == "all_reduce" and phase in ("gradients", "backward")]


class Oracles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            cls.pairs, cls.pairs_of_mesh, cls.pairs_of_operators, cls.pairs_of_hybrid, cls.pairs_of_data = (
                list(zip(every, threads.map(lambda kept: simulate(PROGRAM, kept["case"]), every))) for every in (KEPT, KEPT_MESH, KEPT_OPERATORS, KEPT_HYBRID, KEPT_DATA))

    def test_ledgers_are_equal(self):
        self.assertGreaterEqual(len(self.pairs), 500)
        for kept, made in self.pairs:
            with self.subTest(seed=kept["seed"]):
                self.assertIsNone(difference(made["ledger"], kept["ledger"]), kept["case"])

    def test_a_changed_ledger_is_seen(self):
        kept, made = self.pairs[0]
        entries = made["ledger"]
        self.assertIsNotNone(difference(entries[1:], kept["ledger"]), "a gather is missing")
        doubled = [[phase, kind, 2 * size] for phase, kind, size in entries]
        self.assertIsNotNone(difference(doubled, kept["ledger"]), "bytes of fp32 for 16 bit")
        self.assertIsNotNone(difference([entries[0], *reversed(entries[1:])], kept["ledger"]), "another order")

    # torch issues gathers of units and exchanges of tensor ranks in turn, the simulator in an order of its own.
    def test_ledgers_with_tensor_ranks_have_the_same_entries(self):
        self.assertGreaterEqual(len(self.pairs_of_mesh), 60)
        for kept, made in self.pairs_of_mesh:
            with self.subTest(seed=kept["seed"]):
                self.assertEqual(Counter(exchanges(made["ledger"])), Counter(exchanges(kept["ledger"])), kept["case"])

    def check_peaks(self, pairs, largest=LARGEST, median=MEDIAN):
        errors = []
        for kept, made in pairs:
            peak = max(kept["peaks"].values())
            errors.append(abs(made["peak"] / peak - 1))
            with self.subTest(seed=kept["seed"]):
                self.assertLessEqual(errors[-1], largest, f"simulated {made['peak']}, torch {peak}: {made['made_of']} {kept['case']}")
        self.assertLessEqual(sorted(errors)[len(errors) // 2], median)

    def test_peaks_are_equal(self):
        self.check_peaks(self.pairs)

    def test_peaks_with_tensor_ranks_are_equal(self):
        self.check_peaks(self.pairs_of_mesh)

    def test_peaks_of_recomputation_by_operators_are_equal(self):
        self.assertGreaterEqual(len(self.pairs_of_operators), 40)
        self.check_peaks(self.pairs_of_operators)
        for kept, made in self.pairs_of_operators:
            with self.subTest(seed=kept["seed"]):
                self.assertIsNone(difference(made["ledger"], kept["ledger"]), kept["case"])

    def test_peaks_and_ledgers_of_copies_and_neighbours_are_equal(self):
        self.assertGreaterEqual(len(self.pairs_of_hybrid), 40)
        self.check_peaks(self.pairs_of_hybrid)
        for kept, made in self.pairs_of_hybrid:
            with self.subTest(seed=kept["seed"]):
                self.assertIsNone(difference(made["ledger"], kept["ledger"]), kept["case"])
                copies = [size for phase, kind, size in kept["ledger"] if kind == "all_reduce" and phase == "backward"]
                self.assertEqual([size for phase, kind, size in made["ledger"] if kind == "all_reduce" and phase == "gradients"], copies, kept["case"])

    def test_other_neighbours_are_seen(self):
        """What is gathered has the same bytes among fewer: what stays after the forward tells."""
        some = [kept for kept, _ in self.pairs_of_hybrid if kept["case"]["near"] > 1][:8]
        errors = [abs(simulate(PROGRAM, {**kept["case"], "near": 1})["peak"] / max(kept["peaks"].values()) - 1) for kept in some]
        self.assertGreater(max(errors), LARGEST)

    # Queries, keys and values are one tensor here and three there, and so are gate and up: buckets end at other tensors.
    def test_peaks_of_data_parallelism_are_near(self):
        self.assertGreaterEqual(len(self.pairs_of_data), 60)
        self.check_peaks(self.pairs_of_data, LARGEST_OF_DATA, MEDIAN_OF_DATA)
        for kept, made in self.pairs_of_data:
            with self.subTest(seed=kept["seed"]):
                ours, torchs = sums(made["ledger"]), sums(kept["ledger"])
                self.assertLessEqual(abs(sum(ours) / sum(torchs) - 1), PADDING, kept["case"])
                if kept["case"]["bucket_mib"] == 0:
                    self.assertEqual(len(ours), len(torchs), kept["case"])
                    self.assertLessEqual(max(abs(mine / its - 1) for mine, its in zip(ours, torchs)), PADDING, kept["case"])

    def test_a_product_more_or_less_is_seen(self):
        """What is kept where a block is made again as a whole, or not at all, is no answer for operators."""
        for other in ("full", "none"):
            kept = max(self.pairs_of_operators, key=lambda pair: pair[0]["case"]["form"]["layers"])[0]
            made = simulate(PROGRAM, {**kept["case"], "recompute": other})
            self.assertGreater(abs(made["peak"] / max(kept["peaks"].values()) - 1), LARGEST, other)

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
        some = KEPT[::len(KEPT) // ASKED][:ASKED]
        subprocess.run([TORCH, HERE / "keep.py", path, *(str(kept["seed"]) for kept in some)], check=True)
        self.assertEqual(json.loads(path.read_text()), some)
        some = KEPT_MESH[::len(KEPT_MESH) // 4][:4]
        subprocess.run([TORCH, HERE / "keep.py", path, "mesh", *(str(kept["seed"]) for kept in some)], check=True)
        self.assertEqual(json.loads(path.read_text()), some)
        some = KEPT_OPERATORS[:4]
        subprocess.run([TORCH, HERE / "keep.py", path, "operators", *(str(kept["seed"]) for kept in some)], check=True)
        self.assertEqual(json.loads(path.read_text()), some)
        some = KEPT_HYBRID[:3]
        subprocess.run([TORCH, HERE / "keep.py", path, "hybrid", *(str(kept["seed"]) for kept in some)], check=True)
        self.assertEqual(json.loads(path.read_text()), some)
        some = KEPT_DATA[:4]
        subprocess.run([TORCH, HERE / "ask_ddp.py", path, *(str(kept["seed"]) for kept in some)], check=True)
        self.assertEqual(json.loads(path.read_text()), some)
        some = KEPT_TENSOR[:3]
        subprocess.run([TORCH, HERE / "ask_tensor.py", path, *(str(kept["seed"]) for kept in some)], check=True)
        self.assertEqual(json.loads(path.read_text()), some)


if __name__ == "__main__":
    unittest.main()
