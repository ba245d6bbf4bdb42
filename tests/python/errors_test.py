"""Errors are exceptions with the violations that the command line tells."""
import unittest

import meshwright as mw
from some_plan import QUESTION


class Errors(unittest.TestCase):
    def test_every_violation_at_once(self):
        with self.assertRaises(mw.InputError) as caught:
            mw.plan(**{**QUESTION, "risk": "much", "optimizer": "adam"})
        where = {violation.where for violation in caught.exception.violations}
        self.assertEqual(where, {"--risk", "--optimizer"})
        self.assertTrue(all(violation.problem and violation.remedy for violation in caught.exception.violations))
        self.assertIn("remedy:", str(caught.exception))

    def test_it_is_a_value_error_with_the_file(self):
        with self.assertRaises(ValueError) as caught:
            mw.Plan.load("nowhere.json")
        self.assertEqual(caught.exception.file, "nowhere.json")

    def test_a_misspelt_name_has_its_neighbour(self):
        with self.assertRaisesRegex(mw.InputError, "h100-80gb-sxm"):
            mw.plan(**{**QUESTION, "cluster": "h100-80gb-smx"})


if __name__ == "__main__":
    unittest.main()
