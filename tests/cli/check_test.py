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
        self.assertLessEqual(len(text.splitlines()), 45)
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

    def test_devices_are_as_many_as_the_recipe_starts_processes(self):
        recipe, given = self.recipe("tp=4"), ["--model", program.MODEL, "--cluster", "h100-80gb-sxm", "--budget", "5s"]
        self.assertEqual(self.document("check", recipe, *given)["result"], self.document("check", recipe, *given, "--devices", "4")["result"])
        self.assertIn("the cluster has 8 devices", self.run_program("check", recipe, *given, "--devices", "8", expect=30).stderr)
        script = recipe / "pretrain.sh"
        script.write_text(script.read_text().replace("--nproc-per-node 4", "--nproc-per-node $N").replace("--nproc_per_node 4", "--nproc_per_node $N"))
        self.assertIn("add --devices N", self.run_program("check", recipe, *given, expect=30).stderr)

    def test_what_the_file_leaves_to_the_code_is_named(self):
        recipe = self.folder / "accelerate.yaml"
        recipe.write_text("compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 4\n"
                          "fsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n")
        document = self.document("check", recipe, "--model", program.MODEL, "--cluster", "h100-80gb-sxm", "--global-batch", "64", "--sequence", "128")
        changes = {tuple(one["changed"]): one["lines"] for one in document["one_change"]}
        self.assertRegex(changes[("microbatch",)][0], r"^microbatch 1 -> \d+, in the program's code$")
        for lines in changes.values():
            self.assertNotIn("the stage cut", lines)
            for line in lines:
                self.assertNotIn("remove parallelism_config", line)  # the file has no such line

    def llama_factory(self, deepspeed):
        (self.folder / "ds.json").write_text(deepspeed)
        recipe = self.folder / "train.yaml"
        recipe.write_text("stage: sft\nfinetuning_type: full\ncutoff_len: 128\nbf16: true\ndeepspeed: ds.json\n"
                          "per_device_train_batch_size: 1\ngradient_accumulation_steps: 4\n")
        return ["check", recipe, *GIVEN, "--model", program.MODEL]

    def test_what_the_program_does_in_its_own_way_keeps_no_change_away(self):
        document = self.document(*self.llama_factory('{"zero_optimization": {"stage": 3}}'))
        self.assertIn(["recompute"], [one["changed"] for one in document["one_change"] if one["plan"]["microbatches"] == 4])

    def test_changes_keep_to_what_is_fixed(self):
        recipe, given = self.recipe("tp=4", "recompute=full"), [*GIVEN, "--model", program.MODEL]
        kept = self.document("check", recipe, *given, "--fix", "tp=4", "--fix", "recompute=full")
        for one in (*kept["one_change"], *kept["two_changes"], *kept["best"]):
            self.assertEqual((one["plan"]["tensor"], one["plan"]["recompute"]), (4, "full"))
        self.assertNotEqual(self.document("check", recipe, *given)["best"][0]["plan"]["recompute"], "full")

    def test_the_best_says_what_it_gains_by(self):
        recipe, given = self.recipe("tp=4", "recompute=full"), [*GIVEN, "--model", program.MODEL]
        document = self.document("check", recipe, *given)
        best = document["best"][0]
        self.assertAlmostEqual(sum(one["seconds"] for one in best["causes"]), best["result"]["step_time_seconds"], places=9)
        self.assertGreater(best["faster_chance_ratio"], 0.5)
        again = {name: next(one["seconds"] for one in part["causes"] if one["name"] == "computing again") for name, part in (("now", document), ("best", best))}
        self.assertLess(again["best"], again["now"])
        text = self.run_program("check", recipe, *given).stdout
        self.assertRegex(text, r"of the step: [^%]* [-+]\d")
        self.assertRegex(text, r"chance to run out of memory: \S+ %, this one")
        self.assertNotIn("a tie", text)
        self.assertIn("the first change above gains more: the search does not choose cuda_graphs", text)

    def test_plans_are_ranked_by_what_is_asked(self):
        """Energy of a step; a training's length needs to be told."""
        recipe, given = self.recipe("tp=4", "recompute=full"), [*GIVEN, "--model", program.MODEL]
        document = self.document("check", recipe, *given, "--objective", "energy")
        best = document["best"][0]
        self.assertEqual(document["objective"], "energy")
        self.assertLess(best["energy_joules"], document["energy_joules"])
        changes = [one["energy_joules"] for one in document["one_change"]]
        self.assertEqual(changes, sorted(changes))
        self.assertLess(changes[0], document["energy_joules"])
        text = self.run_program("check", recipe, *given, "--objective", "energy").stdout
        self.assertRegex(text, r"energy +[0-9.]+ k?J")
        self.assertIn("less energy", text)
        self.assertIn("nothing says how long it is", self.run_program("check", recipe, *given, "--objective", "time-to-train", expect=30).stderr)
        training = self.document("check", recipe, *given, "--objective", "time-to-train", "--tokens", "1e10", "--mtbf", "1 y")
        self.assertLess(training["best"][0]["time_to_train_seconds"], training["time_to_train_seconds"])

    def test_the_best_plan_is_behind_no_change_however_early_the_search_ends(self):
        plan = self.make_plan("--fix", "tp=4", "--fix", "recompute=full", "--top", "1")
        document = self.document("check", plan, "--budget", "0s")
        best = document["best"][0]["result"]["step_time_seconds"]
        changes = [one for one in document["one_change"] + document["two_changes"] if not {"bucket_size", "prefetch"} & set(one["changed"])]
        self.assertGreater(len(changes), 1)
        for one in changes:
            self.assertLessEqual(best, 1.001 * one["result"]["step_time_seconds"], one["changed"])

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

    def log_of(self, seconds, name):
        line = " iteration {}/ 90 | elapsed time per iteration (ms): {:.6f} | global batch size:    16 |\n"
        return self.write(name, "".join(line.format(i, 1000 * seconds * (3 if i == 1 else 1 + 0.002 * (i % 3 - 1))) for i in range(1, 31)))

    def test_the_log_of_the_running_job_comes_first(self):
        """The prediction follows it, the interval becomes narrower, and what is offered is told by it."""
        recipe, given = self.recipe("tp=4", "recompute=full"), [*GIVEN, "--model", program.MODEL]
        alone = self.document("check", recipe, *given)
        self.assertNotIn("learned", alone)
        before, high = (alone["result"][name] for name in ("step_time_seconds", "step_time_high_seconds"))
        for quotient in (0.8, 1.25):
            log = self.log_of(quotient * before, f"{quotient}.log")
            document = self.document("check", recipe, *given, "--log", log)
            now, step = document["result"]["step_time_seconds"], document["learned"]["steps"][0]
            self.assertAlmostEqual(step["measured_seconds"], quotient * before, delta=0.003 * before)
            self.assertAlmostEqual(step["predicted_before_seconds"], before, delta=1e-6 * before)
            self.assertLess(abs(now / (quotient * before) - 1), 0.6 * abs(1 / quotient - 1))
            self.assertLess(document["learned"]["interval_ratio"], document["learned"]["interval_before_ratio"])
            self.assertLess(document["result"]["step_time_high_seconds"] / now, high / before)
            self.assertGreater((document["best"][0]["result"]["step_time_seconds"] / alone["best"][0]["result"]["step_time_seconds"] - 1) * (quotient - 1), 0)
        text = self.run_program("check", recipe, *given, "--log", log).stdout
        self.assertIn("corrected by its log", text)
        self.assertIn("The running job", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_a_log_of_another_job_is_refused(self):
        log = self.write("other.log", "iteration 1 | elapsed time per iteration (ms): 300 | global batch size:    32 |\n" * 5)
        self.assertIn("is 32 in the log and 16 in the plan", self.run_program("check", self.make_plan(), "--log", log, expect=30).stderr)

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
