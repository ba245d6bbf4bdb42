"""`simulate`: numbers, picture, Chrome trace, checkers."""
import json

import program


class Simulate(program.ProgramTest):
    def test_picture_and_checkers(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "schedule=1f1b")
        text = self.run_program("simulate", plan, "--text", "--check", "--columns", "60").stdout
        self.assertIn("bubble", text)
        self.assertIn("The checkers agree", text)
        self.assertRegex(text, r"(?m)^stage 1.*F.*B")

    def test_timeline_is_a_chrome_trace(self):
        trace = self.folder / "timeline.json"
        self.run_program("simulate", self.make_plan(), "--timeline", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        self.assertTrue(any(event["ph"] == "X" for event in events))

    def test_agrees_with_the_prediction_in_the_plan(self):
        plan = self.make_plan()
        step = self.document("simulate", plan)["result"]["step_time_seconds"]
        predicted = json.loads(plan.read_text())["predictions"]["step_time"]
        value, unit = predicted.split()
        self.assertAlmostEqual(float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit], step, places=12)


if __name__ == "__main__":
    program.main()
