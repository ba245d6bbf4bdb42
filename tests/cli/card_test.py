"""Steps that were measured on a card, simulated by what `measure` found of it and by its data sheet: the goals of docs/figures/gpu.md."""
import json
import sys

import program

sys.path.insert(0, str(program.ROOT / "tests/gpu"))
import figures  # noqa: E402

MOST_TIME, MOST_MEMORY = 0.05, 1 << 10   # a share; bytes


class Card(program.ProgramTest):
    def test_plans_take_the_time_and_the_memory_that_they_took(self):
        kept = json.loads(figures.FIGURES.read_text())["plans"]
        self.assertGreaterEqual(len(kept), 4)
        for name, measured in kept.items():
            for profile in (figures.PROFILE, figures.SHEET):
                with self.subTest(name, profile=profile.name):
                    seconds, memory, low, high = figures.simulated(program.PROGRAM, name, profile)
                    self.assertAlmostEqual(seconds / measured["measured_seconds"], 1, delta=MOST_TIME)
                    self.assertAlmostEqual(memory, measured["measured_bytes"], delta=MOST_MEMORY)
                    self.assertTrue(low <= measured["measured_seconds"] <= high)


if __name__ == "__main__":
    program.main()
