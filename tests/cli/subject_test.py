"""What check and diff can be pointed at: plans, folders, recipes; and what is said of others."""
import json

import program

GIVEN = ["--cluster", "h100-80gb-sxm", "--devices", "4", "--model", program.MODEL]


class Subject(program.ProgramTest):
    def test_a_folder_with_one_recipe(self):
        plan = self.make_plan("--for", "megatron", "--fix", "tp=2")
        self.run_program("export", plan, "--to", "megatron", "-o", self.folder / "recipe")
        folder, file = (self.document("check", path, *GIVEN) for path in (self.folder / "recipe", self.folder / "recipe" / "pretrain.sh"))
        self.assertEqual(folder["result"], file["result"])
        self.assertEqual(folder["program"], "megatron")
        (self.folder / "recipe" / "other.sh").write_text((self.folder / "recipe" / "pretrain.sh").read_text())
        self.assertIn("holds several", self.run_program("check", self.folder / "recipe", *GIVEN, expect=30).stderr)

    def test_a_folder_with_a_plan(self):
        plan = self.make_plan()
        self.assertEqual(self.document("check", self.folder)["result"], self.document("check", plan)["result"])

    def test_an_empty_folder(self):
        self.assertIn("holds no configuration of a known program", self.run_program("check", self.folder, *GIVEN, expect=30).stderr)

    def test_what_is_given_beside_a_plan_is_what_it_says(self):
        plan = self.make_plan()
        workload = json.loads(plan.read_text())["workload"]
        for option, value in (("--sequence", 4096), ("--global-batch", 4096), ("--microbatch", 3), ("--devices", 64), ("--recompute", "full"), ("--model", "llama-3-8b"), ("--vocabulary", 999),
                              ("--set", "TP=4")):
            for words in (["check", plan], ["diff", plan, plan]):
                self.assertIn(option, self.run_program(*words, option, value, expect=30).stderr)
        full = self.make_plan("--fix", "recompute=full", name="full.json")
        self.assertIn("--recompute", self.run_program("check", full, "--recompute", "none", expect=30).stderr)
        self.run_program("diff", plan, plan, "--sequence", workload["sequence"], "--global-batch", workload["global_batch"], "--model", program.MODEL)

    def test_another_cluster(self):
        plan = self.make_plan()
        slow, fast = (self.document("check", plan, "--cluster", name) for name in ("a100-80gb-sxm", "h100-80gb-sxm"))
        self.assertGreater(slow["result"]["step_time_seconds"], fast["result"]["step_time_seconds"])


if __name__ == "__main__":
    program.main()
