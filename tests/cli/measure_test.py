"""`measure` on this machine: a profile that the planner takes."""
import json

import program


class Measure(program.ProgramTest):
    def test_profile_is_complete(self):
        profile = self.folder / "machine.json"
        done = self.run_program("measure", "-o", profile, "--ranks", "1,2", timeout=250)
        self.assertRegex(done.stderr, r"measure: shape \d+ of \d+ \(\d+ %\), \d ranks? at once, .* left")
        content = json.loads(profile.read_text())
        self.assertEqual(content["format"], "meshwright.hardware/2")
        self.assertTrue(content["source"] and content["date"])
        kernels = {(point["kernel"], point.get("concurrent_ranks", 1)) for point in content["measured"]}
        for kernel in ("linear_forward", "attention_backward", "adamw", "copy"):
            self.assertIn((kernel, 1), kernels)
        self.assertTrue(any(kernel == "all_reduce" for kernel, _ in kernels))
        self.run_program("plan", "--model", program.MODEL, "--cluster", profile, "--devices", "2", "--global-batch", "4", "--sequence", "64", "--runnable",
                         "-o", self.folder / "plan.json")


if __name__ == "__main__":
    program.main(needs_worker=True)
