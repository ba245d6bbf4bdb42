"""plan() says what the command line says; what is not feasible is no error."""
import gc
import unittest

import meshwright as mw
from some_plan import QUESTION, ranking


class Search(unittest.TestCase):
    def test_ranked(self):
        times = [one.result.step_time for one in ranking()]
        self.assertEqual(times, sorted(times))
        self.assertEqual((len(ranking()), ranking()[-1].plan), (5, ranking().ranked[4].plan))
        self.assertEqual(mw.simulate(ranking().best).step_time, times[0])
        self.assertEqual(ranking()[0].why_not_best, "")
        with self.assertRaises(IndexError):
            ranking()[5]

    def test_a_plan_outlives_its_ranking(self):
        best = mw.plan(**QUESTION, top=1).best
        gc.collect()
        other = mw.plan(**{**QUESTION, "global_batch": 128}, top=1)[0]   # takes the memory that was freed
        self.assertEqual(best.replace(), best)
        self.assertEqual((best.fields()["global_batch"], other.plan.fields()["global_batch"]), (64, 128))

    def test_settings_that_stay(self):
        fixed = mw.plan(**QUESTION, fixed={"tensor": 2, "zero": 1, "sequence_parallel": True}, top=1)
        self.assertEqual([fixed.best.fields()[name] for name in ("tensor", "zero", "sequence_parallel")], [2, 1, True])

    def test_settings_that_stay_in_the_words_of_people(self):
        by_words, by_names = mw.plan(**QUESTION, fixed=["tp=2", "zero1"], top=1), mw.plan(**QUESTION, fixed={"tensor": 2, "zero": 1}, top=1)
        self.assertEqual(by_words.best, by_names.best)
        with self.assertRaises(mw.InputError):
            mw.plan(**QUESTION, fixed=["tp"])

    def test_fewer_devices_compete(self):
        fewer = mw.plan(**QUESTION, fewer=True, objective="cost", top=3)
        spent = [one.result.step_time * one.plan.fields()["data"] * one.plan.fields()["tensor"] * one.plan.fields()["pipeline"] for one in fewer]
        self.assertEqual(spent, sorted(spent))
        self.assertLess(spent[0], ranking()[0].result.step_time * QUESTION["devices"])

    def test_nothing_is_feasible(self):
        none = mw.plan("gpt3-175b", "h100-80gb-sxm", devices=1, global_batch=8, sequence=2048)
        self.assertEqual(len(none), 0)
        self.assertTrue(none.excluded)
        self.assertIn("No plan is feasible", repr(none))
        with self.assertRaises(IndexError):
            none.best

    def test_a_frame(self):
        frame = ranking().frame()
        self.assertEqual(len(frame), 5)
        self.assertEqual(list(frame["data"]), [one.plan.fields()["data"] for one in ranking()])


if __name__ == "__main__":
    unittest.main()
