"""check(): where step and memory go, and what one change gains."""
import pathlib
import tempfile
import unittest

import meshwright as mw
from some_plan import plan


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path, before = pathlib.Path(folder) / "plan.json", pathlib.Path(folder) / "before.json"
            plan().replace(microbatch=2).save(path)
            plan().replace(microbatch=1).save(before)
            cls.check = mw.check(path, budget="5 s", against=before)

    def test_causes_add_up_to_the_step(self):
        now = self.check.now
        self.assertTrue(self.check.fits)
        self.assertAlmostEqual(sum(now.causes.values()), now.result.step_time, places=6)

    def test_tensors_add_up_to_the_peak(self):
        self.assertEqual(sum(held.bytes for held in self.check.now.tensors_at_peak), self.check.now.result.peak_memory)

    def test_a_change_that_gains(self):
        best = self.check.one_change[0]
        self.assertLess(best.result.step_time, self.check.now.result.step_time)
        self.assertTrue(self.check.lines(best))
        self.assertGreater(self.check.before.result.step_time, self.check.now.result.step_time)
        self.assertIn("fits", repr(self.check))

    def test_two_plans_beside_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            before, now = pathlib.Path(folder) / "before.json", pathlib.Path(folder) / "now.json"
            plan().replace(microbatch=1).save(before)
            plan().replace(microbatch=2).save(now)
            two = mw.diff(before, now)
        self.assertEqual(two.lines(), ["microbatch 1 -> 2"])
        self.assertEqual(two.now.causes, self.check.now.causes)
        self.assertGreater(two.faster_chance, 0.5)

    def test_changes_keep_to_what_is_fixed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            plan().replace(microbatch=2).save(path)
            kept = mw.check(path, budget="5 s", fixed=["mbs=2"], prices=True)
        self.assertEqual({one.plan.fields()["microbatch"] for one in (*kept.one_change, *kept.best)}, {2})
        self.assertTrue(kept.prices)

    def test_ranks_by_what_is_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            plan().replace(microbatch=2).save(path)
            joules = mw.check(path, budget="5 s", objective="energy")
            with self.assertRaises(mw.InputError):
                mw.check(path, budget="5 s", objective="beauty")
        self.assertEqual(self.check.measure, self.check.now.result.step_time)
        self.assertGreater(joules.measure, 10 * self.check.measure)   # seconds times watts
        self.assertLess(joules.one_change[0].measure, joules.measure)


if __name__ == "__main__":
    unittest.main()
