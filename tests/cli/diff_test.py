"""`diff`: settings that differ, time and memory by cause."""
import program


class Diff(program.ProgramTest):
    def test_settings_time_and_memory(self):
        before, now = self.make_plan("--fix", "recompute=full", name="a.json"), self.make_plan("--fix", "recompute=none", name="b.json")
        text = self.run_program("diff", before, now).stdout
        self.assertRegex(text, r"recompute +full +none")
        self.assertRegex(text, r"computing again .* - +-")
        self.assertRegex(text, r"peak +\d")
        document = self.document("diff", before, now)
        gains = [now["seconds"] - was["seconds"] for was, now in zip(document["before"]["causes"], document["now"]["causes"])]
        step = document["now"]["result"]["step_time_seconds"] - document["before"]["result"]["step_time_seconds"]
        self.assertAlmostEqual(sum(gains), step, places=9)

    def test_equal_plans(self):
        plan = self.make_plan()
        self.assertIn("none that time or memory depend on", self.run_program("diff", plan, plan).stdout)


if __name__ == "__main__":
    program.main()
