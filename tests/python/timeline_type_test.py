"""Timelines as NumPy columns that add up to what the simulation says."""
import json
import pathlib
import tempfile
import unittest

import numpy

import meshwright as mw
from some_plan import plan


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.step = mw.simulate(plan(), timeline=True)
        cls.columns = cls.step.timeline.columns()

    def test_columns_have_an_entry_a_span(self):
        for name, column in self.columns.items():
            self.assertIsInstance(column, numpy.ndarray)
            self.assertEqual(column.shape, (len(self.step.timeline),), name)
        self.assertEqual(len(self.step.timeline.kinds()), len(self.step.timeline))

    def test_they_add_up(self):
        self.assertAlmostEqual(self.columns["end"].max(), self.step.step_time, places=9)
        computing = self.columns["stream"] == mw.STREAMS.index("compute")
        busy = (self.columns["end"] - self.columns["start"])[computing & (self.columns["moves_data"] == 0)].sum()
        self.assertAlmostEqual(busy, self.step.devices[0].busy, places=9)

    def test_memory_peaks_where_the_result_says(self):
        memory = self.step.timeline.memory()
        alive = sum(column for name, column in memory.items() if name not in ("device", "time"))
        self.assertEqual(alive.max(), self.step.peak_memory)

    def test_columns_outlive_the_timeline(self):
        starts = mw.simulate(plan(), timeline=True).timeline.columns()["start"]
        self.assertGreaterEqual(starts.sum(), 0)

    def test_it_is_saved_for_viewers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "timeline.json"
            self.step.timeline.save(path)
            self.assertIn("traceEvents", json.loads(path.read_text()))

    def test_without_asking_it_is_empty(self):
        self.assertEqual(len(mw.simulate(plan()).timeline), 0)


if __name__ == "__main__":
    unittest.main()
