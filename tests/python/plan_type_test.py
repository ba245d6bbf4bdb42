"""Plan: load, save, replace."""
import pathlib
import tempfile
import unittest

import meshwright as mw
from some_plan import plan


class Plan(unittest.TestCase):
    def test_a_saved_plan_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            plan().save(path)
            again = mw.Plan.load(path)
        self.assertEqual((again, again.hash, hash(again)), (plan(), plan().hash, hash(plan())))
        self.assertEqual(again.fields(), plan().fields())

    def test_replace_changes_a_copy(self):
        other = plan().replace(zero=1, sequence_parallel=False, bucket_size="50 MiB")
        self.assertEqual((other.fields()["zero"], other.fields()["bucket_size"]), (1, 50 << 20))
        self.assertNotEqual(other, plan())
        self.assertEqual(plan().fields()["zero"], 3)

    def test_another_number_of_stages_is_cut_anew(self):
        other = plan().replace(data=4, pipeline=2, microbatch=2)
        self.assertEqual(len(other.fields()["cut"]), 2)
        self.assertGreater(mw.simulate(other).bubble, 0)

    def test_what_is_no_plan_is_refused(self):
        for fields in ({"zero": 9}, {"zeros": 1}, {"tensor": 3}, {"microbatches": 2}):
            with self.subTest(fields), self.assertRaises(mw.InputError):
                plan().replace(**fields)

    def test_facts(self):
        self.assertEqual((plan().ranks, plan().hardware, plan().parameters), (8, "h100-80gb-sxm", 124439808))
        self.assertIn("data=8", repr(plan()))


if __name__ == "__main__":
    unittest.main()
