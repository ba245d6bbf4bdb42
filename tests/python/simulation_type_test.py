"""simulate() says what the command line says."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import meshwright as mw
from some_plan import plan


class Simulation(unittest.TestCase):
    def test_as_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            plan().save(path)
            printed = subprocess.run([sys.executable, "-m", "meshwright", "simulate", path, "--json"], text=True, capture_output=True, check=True).stdout
            ours = mw.simulate(path)
        said = json.loads(printed)["result"]
        self.assertEqual((ours.step_time, ours.step_time_low, ours.mfu, ours.peak_memory, ours.tasks),
                         tuple(said[name] for name in ("step_time_seconds", "step_time_low_seconds", "mfu_ratio", "peak_memory_bytes", "tasks")))
        self.assertEqual(ours.devices[0].memory_at_peak, said["devices"][0]["memory_at_peak_bytes"])

    def test_a_slow_rank_costs_and_is_said(self):
        slow = mw.simulate(plan(), slow_ranks={3: 1.5})
        self.assertEqual(slow.undisturbed_step_time, mw.simulate(plan()).step_time)
        self.assertGreater(slow.step_time, slow.undisturbed_step_time)
        self.assertIn("rank 3", slow.disturbed_by[0])

    def test_every_rank(self):
        self.assertEqual(len(mw.simulate(plan(), every_rank=True).devices), 8)

    def test_a_link_that_is_not_there(self):
        with self.assertRaisesRegex(mw.InputError, "uplink 7"):
            mw.simulate(plan(), slow_links={"uplink 7": 0.5})


if __name__ == "__main__":
    unittest.main()
