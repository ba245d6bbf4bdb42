"""What a GPU's allocator reserves. The simulator's allocator against PyTorch's own, request by request; and the memory that a simulated step reserves against what
PyTorch's reserves for the step that torch issues on fake tensors: with segments, and with such that grow."""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import unittest

from reserved import KINDS, reserved_by
from torchs_allocator import MUCH, TorchsAllocator, asked

HERE = pathlib.Path(__file__).resolve().parent
REQUESTS, PROGRAM = sys.argv.pop(), sys.argv.pop()
KEPT = json.loads((HERE / "kept_allocator.json").read_text())
MEAN, LARGEST = 0.04, 0.15   # a piece of logits more or less is a tenth of all
TENSORS_ALONE = 0.15          # at least so much is missing in the mean without an allocator


def random_requests(seed, count=6000):
    """Of all classes of sizes, on two streams, given back in any order."""
    draw, alive, lines = random.Random(seed), [], []
    ranges = [(1, 4096), (1, 1 << 20), (1 << 20, 10 << 20), (10 << 20, 400 << 20), (10 << 20, 400 << 20), (1 << 30, 6 << 30)]
    for number in range(count):
        if alive and draw.random() < (0.48 if len(alive) < 300 else 0.6):
            lines.append(f"- {alive.pop(draw.randrange(len(alive)))}")
            continue
        alive.append(number)
        low, high = draw.choice(ranges[:-1] * 20 + ranges[-1:])
        lines.append(f"+ {number} {draw.randrange(low, high)} {draw.choice([0, 0, 0, 1])}")
    return lines


class Allocator(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.torchs = TorchsAllocator(folder)
        if cls.torchs.why_not:
            raise unittest.SkipTest(cls.torchs.why_not)

    def ours(self, lines, kind, capacity=MUCH):
        return asked([REQUESTS, kind, capacity], lines)

    def test_each_request_reserves_the_same(self):
        for kind in KINDS:
            for seed in range(6):
                with self.subTest(kind=kind, seed=seed):
                    lines = random_requests(seed)
                    self.assertEqual(self.ours(lines, kind), self.torchs.reserved(lines, kind))

    def test_a_full_device_takes_back_what_is_free(self):
        answers = []
        for seed in range(6):
            lines = random_requests(seed)
            answers += self.ours(lines, "segments", 60 << 30)
            self.assertEqual(answers[-len(lines):], self.torchs.reserved(lines, "segments", 60 << 30), seed)
        self.assertIn("out", answers)

    def test_another_allocator_is_seen(self):
        lines = random_requests(0)
        self.assertNotEqual(self.ours(lines, "segments"), self.torchs.reserved(lines, "expandable"))

    def test_torch_still_says_what_is_kept(self):
        some = min(KEPT, key=lambda kept: kept["case"]["form"]["layers"] * kept["case"]["microbatches"])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "asked.json"
            subprocess.run([sys.executable, HERE / "keep_allocator.py", path, str(some["seed"])], check=True)
            self.assertEqual(json.loads(path.read_text()), [some])


class Reserved(unittest.TestCase):
    def test_steps_reserve_what_torchs_do(self):
        self.assertGreaterEqual(len(KEPT), 20)
        for kind in KINDS:
            errors = {kept["seed"]: reserved_by(PROGRAM, REQUESTS, kept, kind) / kept[kind] - 1 for kept in KEPT}
            alone = [1 - kept["allocated"] / kept[kind] for kept in KEPT]
            with self.subTest(kind=kind):
                self.assertLessEqual(statistics.mean(map(abs, errors.values())), MEAN, errors)
                self.assertLessEqual(max(map(abs, errors.values())), LARGEST, errors)
                self.assertGreater(statistics.mean(alone), TENSORS_ALONE, "tensors alone would do")


if __name__ == "__main__":
    unittest.main()
