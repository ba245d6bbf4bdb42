"""What docs/figures/gpu.md and README.md say of the card is what its kept reports hold."""
import json
import re
import sys
import unittest

import figures
from report import ROOT

KEPT = json.loads(figures.FIGURES.read_text())


def ratios(mine, other):
    """Of every model that ran both: tokens a second of one over those of the other."""
    return [of[mine]["tokens_per_second"] / of[other]["tokens_per_second"] for of in KEPT["speed"].values() if mine in of and other in of]


class Page(unittest.TestCase):
    def test_its_tables_are_of_the_kept_reports(self):
        """But for what is simulated, which tests/cli/card_test.py holds."""
        page = figures.PAGE.read_text()
        for name, lines in (("machine", figures.machine(KEPT)), ("speed", figures.speed(KEPT)), ("kernels", figures.kernels(KEPT)), ("roofline", figures.roofline(KEPT))):
            self.assertIn(f"<!-- {name}: made by tests/gpu/figures.py -->\n" + "\n".join(lines) + f"\n<!-- /{name} -->", page, name)

    def test_a_ratio_is_of_one_way_to_run(self):
        of = {side: {"tokens_per_second": rate} for side, rate in (("executor", 110), ("executor_graphs", 150), ("strong", 100))}
        *_, row = figures.speed({"speed": {"llama-1b": of | {"executor_memory_over_strong": 1}}})
        self.assertEqual([cell.strip() for cell in row.split("|")[2:8]], ["110", "1.10", "", "150", "1.50", ""])


class Readme(unittest.TestCase):
    def test_it_says_what_the_worker_does_unasked(self):
        text = " ".join((ROOT / "README.md").read_text().split())
        for mine, words in (("executor", "{} to {} times as fast as well-written eager PyTorch"), ("executor_graphs", "{} to {} with `--cuda-graphs`")):
            found = re.search(words.format(r"([\d.]+)", r"([\d.]+)"), text)
            self.assertIsNotNone(found, words)
            self.assertEqual([float(each) for each in found.groups()], [round(of(ratios(mine, "strong")), 2) for of in (min, max)])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
