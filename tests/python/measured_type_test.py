"""compare, calibrate and validate, on a run and rows that stand in the repository."""
import json
import pathlib
import tempfile
import unittest

import meshwright as mw
from some_plan import ROOT, RUN


class Measured(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_compare_then_calibrate_then_compare(self):
        before = mw.compare(RUN)
        self.assertTrue(before.ledger_equal, before.ledger_difference)
        self.assertEqual(before.only_simulated + before.only_measured, [])
        machine = self.folder / "machine.json"
        machine.write_text(json.dumps(json.loads((RUN / "plan.json").read_text())["cluster"]["hardware"]))
        profile = mw.calibrate([RUN], machine)
        self.assertEqual(len(profile.traces), 2)
        self.assertGreater(min(correction.factor for correction in profile.corrections), 0)
        profile.save(self.folder / "calibrated.json")
        after = mw.compare(RUN, cluster=self.folder / "calibrated.json")
        self.assertLess(abs(after.step.error), abs(before.step.error))

    def test_a_folder_without_a_run(self):
        with self.assertRaises(mw.InputError):
            mw.compare(self.folder)

    def test_rows_are_predicted_and_scored(self):
        rows = json.loads((ROOT / "profiles/published/rows.json").read_text())[:3]
        rows[1]["plan"]["dp"] += 1
        (self.folder / "rows.json").write_text(json.dumps(rows))
        validation = mw.validate(self.folder / "rows.json")
        self.assertEqual([bool(row.error) for row in validation.rows], [False, True, False])
        self.assertEqual(validation.errors, 1)
        row = validation.rows[0]
        self.assertTrue(row.time_low < row.time < row.time_high)
        self.assertGreater(row.measured_time, 0)
        self.assertIn("MAPE", repr(validation))


if __name__ == "__main__":
    unittest.main()
