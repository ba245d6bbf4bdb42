"""`check`: one screen about a plan or a recipe, the lines to change, exit code 10, Markdown, and what changed since."""
import re

import program

GIVEN = ["--cluster", "h100-80gb-sxm", "--devices", "4"]


class Check(program.ProgramTest):
    def recipe(self, *fixed):
        plan = self.make_plan("--for", "megatron", *[word for one in fixed for word in ("--fix", one)])
        self.run_program("export", plan, "--to", "megatron", "-o", self.folder / "recipe")
        return self.folder / "recipe"

    def test_a_recipe_on_one_screen_in_its_own_words(self):
        recipe = self.recipe("tp=4", "recompute=full")
        text = self.run_program("check", recipe, *GIVEN, "--model", program.MODEL).stdout
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertLessEqual(len(text.splitlines()), 60)
        self.assertIn("speed of  megatron-core-2025 on h100-80gb-sxm", text)
        self.assertIn("fits; chance to run out of memory", text)
        self.assertIn("The best plan for Megatron-LM", text)
        document = self.document("check", recipe / "pretrain.sh", *GIVEN, "--model", program.MODEL)
        self.assertTrue(document["fits"])
        self.assertAlmostEqual(sum(one["seconds"] for one in document["causes"]), document["result"]["step_time_seconds"], places=9)
        lines = [line for one in document["one_change"] + document["two_changes"] for line in one["lines"]]
        self.assertIn("remove --recompute-granularity", lines)
        for line in lines:
            self.assertRegex(line, r"^(add |remove )?--[a-z]")
        for one in document["one_change"] + document["two_changes"]:
            self.assertLess(one["result"]["step_time_seconds"], document["result"]["step_time_seconds"])
            self.assertGreater(one["faster_chance_ratio"], 0.5)

    def test_a_network_that_the_program_cannot_say(self):
        """What it lacks is named, and layouts are judged all the same."""
        plan = self.make_plan("--software", "megatron-core-2025", "--fix", "tp=1", "--fix", "pp=1", "--fix", "zero=1", "--fix", "accumulation=reduce_last", model="olmo-2-7b")
        text = self.run_program("check", plan, "--budget", "5s").stdout
        self.assertIn("What it needs and Megatron-LM cannot say", text)
        self.assertIn("norms of queries and keys", text)
        document = self.document("check", plan, "--budget", "5s")
        self.assertTrue(document["not_sayable"])
        self.assertTrue(document["best"])
        self.assertEqual(self.document("check", self.make_plan(), "--budget", "1s")["not_sayable"], [])

    def test_a_change_is_true(self):
        """What is promised is what a simulation of the changed script says."""
        recipe = self.recipe("tp=4", "recompute=full")
        best = next(one for one in self.document("check", recipe, *GIVEN, "--model", program.MODEL)["one_change"]
                    if all(" -> " in line or line.startswith("remove ") for line in one["lines"]))
        script = (recipe / "pretrain.sh").read_text()
        for line in best["lines"]:
            if line.startswith("remove "):
                changed = re.sub(line.removeprefix("remove ") + r"( +[^-\\\s]\S*)?", "", script)
                self.assertNotEqual(changed, script)
                script = changed
            else:
                key, change = line.split(" ", 1)
                before, after = change.split(" -> ")
                self.assertIn(f"{key} {before}", script)
                script = script.replace(f"{key} {before}", f"{key} {after}")
        changed = self.document("check", self.write("changed.sh", script), *GIVEN, "--model", program.MODEL)
        self.assertAlmostEqual(changed["result"]["step_time_seconds"], best["result"]["step_time_seconds"], places=9)

    def test_what_does_not_fit_ends_with_10(self):
        plan = self.make_plan()
        text = self.run_program("check", plan, "--memory-limit", "8 MiB", "--why", "memory", expect=10).stdout
        self.assertIn("DOES NOT FIT", text)
        self.assertIn("parameters, the whole step", text)

    def test_against_an_earlier_one(self):
        before = self.folder / "before.json"
        before.write_text(self.run_program("check", self.make_plan("--fix", "recompute=full"), "--json").stdout)
        now = self.make_plan("--fix", "recompute=none")
        text = self.run_program("check", now, "--against", before, "--markdown").stdout
        self.assertTrue(text.startswith("## "))
        self.assertRegex(text, r"\| recompute \| full \| none \|")

    def test_what_more_would_give(self):
        plan = self.make_plan()
        document = self.document("check", plan, "--prices")
        asked = {one["what_if"]: one for one in document["prices"]}
        self.assertIn("4 GiB more a device", asked)
        best = document["best"][0]["result"]
        self.assertLessEqual(asked["4 GiB more a device"]["seconds_per_token"] * best["tokens_per_second"], 1.0100001)
        self.assertIn("What more would give", self.run_program("check", plan, "--prices").stdout)
        self.assertNotIn("prices", self.document("check", plan))

    def test_what_is_missing_is_said(self):
        recipe = self.recipe("tp=2")
        self.assertIn("--cluster: is not given", self.run_program("check", recipe, expect=30).stderr)
        self.assertIn("no configuration", self.run_program("check", program.MODEL, *GIVEN, expect=30).stderr)


if __name__ == "__main__":
    program.main()
