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
        text = self.run_program("diff", plan, plan).stdout
        self.assertIn("none that time or memory depend on", text)
        self.assertIn("Both with the speed of meshwright on h100-80gb-sxm.", text)
        slow = self.folder / "slow.json"
        self.run_program("plan", "--model", program.MODEL, "--cluster", "a100-80gb-sxm", *program.SMALL[4:], "-o", slow)
        self.assertIn("speed of meshwright on h100-80gb-sxm, and of meshwright on a100-80gb-sxm", self.run_program("diff", plan, slow).stdout)


if __name__ == "__main__":
    program.main()
