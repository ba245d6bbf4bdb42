"""`calibrate --measured` and `--log`: what people have measured, of whatever program, to a profile that plan and compare take."""
import json

import program


class CalibrateMeasured(program.ProgramTest):
    def calibrate(self, *arguments, expect=0):
        return self.run_program("calibrate", *arguments, "-o", self.folder / "mine.json", expect=expect)

    def step(self, plan):
        return self.document("simulate", plan)["result"]["step_time_seconds"]

    def test_one_total_moves_the_prediction_towards_it(self):
        plan = self.make_plan()
        measured = 1.25 * self.step(plan)
        text = self.calibrate("--measured", f"{plan}={measured}s").stdout
        self.assertIn("not identifiable", text)
        self.assertIn("pace", text)
        document = json.loads(plan.read_text())
        document["cluster"] = json.loads((self.folder / "mine.json").read_text())
        again = self.write("again.json", json.dumps(document))
        self.assertLess(abs(self.step(again) / measured - 1), 0.2)
        self.run_program("plan", "--model", program.MODEL, "--cluster", self.folder / "mine.json", "--global-batch", "16", "--sequence", "128")
        software = json.loads((self.folder / "mine.json").read_text())["software"]
        self.assertIn(str(plan), software["source"])

    def test_a_log(self):
        plan = self.make_plan()
        lines = "".join(f" iteration {i}/ 9 | elapsed time per iteration (ms): {900 if i == 1 else 300} | global batch size:    16 |\n" for i in range(1, 6))
        log = self.write("train.log", lines)
        steps = json.loads(self.calibrate("--log", log, "--plan", plan, "--json").stdout)["steps"]
        self.assertAlmostEqual(steps[0]["measured_seconds"], 0.3)
        other = self.write("other.log", lines.replace("size:    16", "size:    32"))
        self.assertIn("is 32 in the log and 16 in the plan", self.calibrate("--log", other, "--plan", plan, expect=30).stderr)

    def test_no_names_are_left(self):
        plan = self.make_plan()
        self.calibrate("--measured", f"{plan}=1s", "--anonymous")
        text = (self.folder / "mine.json").read_text()
        for name in (str(plan), str(self.folder), "h100", "H100", "meshwright-worker"):
            self.assertNotIn(name, text)

    def test_what_is_wrong_is_said(self):
        plan = self.make_plan()
        self.assertIn("is no time, rate or memory", self.calibrate("--measured", f"{plan}=quick", expect=30).stderr)
        for value in ("1e30s", "9e-20 tokens/s"):
            self.assertIn("is no step", self.calibrate("--measured", f"{plan}={value}", expect=30).stderr)
        self.assertIn("nothing measured", self.calibrate(expect=30).stderr)


if __name__ == "__main__":
    program.main()
