"""`plan`: the ranking, fixed axes, exit code 10, and the same bytes with any number of threads."""
import json
import signal
import time

import program


class Plan(program.ProgramTest):
    def test_prints_ranking_and_writes_the_best(self):
        plan = self.folder / "plan.json"
        text = self.run_program("plan", *program.SMALL, "--top", "3", "-o", plan).stdout
        self.assertIn("Best plans", text)
        self.assertIn("plans judged", text)
        self.assertLessEqual(max(map(len, text.splitlines()[:-1])), 100)
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertNotIn("Left out", text)
        self.assertIn("Left out", self.run_program("plan", *program.SMALL, "--why").stdout)  # and writes nothing
        self.assertIn("candidates:", self.run_program("plan", *program.SMALL, "--all").stdout)
        self.assertEqual(json.loads(plan.read_text())["format"], "meshwright.plan/1")

    def test_fix_is_kept(self):
        plan = json.loads(self.make_plan("--fix", "tensor=2", "--fix", "pipeline=2").read_text())
        self.assertEqual((plan["mesh"]["tensor"], plan["mesh"]["pipeline"]), (2, 2))

    def test_fix_takes_what_people_say(self):
        plan = json.loads(self.make_plan("--fix", "tp=2", "--fix", "pp=2", "--fix", "1F1B").read_text())
        self.assertEqual((plan["mesh"]["tensor"], plan["mesh"]["pipeline"], plan["schedule"]), (2, 2, "1f1b"))
        sharded = json.loads(self.make_plan("--fix", "dp_shard=4", name="sharded.json").read_text())
        self.assertEqual((sharded["mesh"]["data"], sharded["zero_stage"]), (4, 3))

    def test_a_network_that_a_program_cannot_say_is_refused_before_the_search(self):
        error = self.document("plan", "--model", "olmo-2-7b", *program.SMALL[2:], "--for", "megatron", expect=30)["error"]
        self.assertIn("norms of queries and keys", error["violations"][0]["problem"])

    def test_fewer_devices_compete(self):
        """By cost few devices win: they exchange less. The order is that of device time."""
        asked = ["plan", *program.SMALL, "--fewer", "--objective", "cost", "--price", "2.5"]
        found = self.document(*asked)["ranked"]
        spent = [one["result"]["step_time_seconds"] * one["plan"]["data"] * one["plan"]["tensor"] * one["plan"]["pipeline"] for one in found]
        self.assertEqual(spent, sorted(spent))
        self.assertIn("more device time a step", found[1]["why_not_best"])
        text = self.run_program(*asked).stdout
        self.assertIn("The cheapest way", text)
        self.assertIn("up to 4 x", text)
        self.assertIn("cost a 1e9 tokens", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        alone = self.document("plan", *program.SMALL)["ranked"][0]
        fewer = self.document("plan", *program.SMALL, "--fewer")["ranked"][0]
        said = [f"up to {word}" if option == "--devices" else word for option, word in zip(("", *program.SMALL), program.SMALL)]
        self.assertEqual(self.document("plan", *said)["ranked"][0]["plan"], fewer["plan"])
        self.assertLessEqual(fewer["result"]["step_time_seconds"], alone["result"]["step_time_seconds"] * 1.01)

    def test_energy_ranks_by_joules_of_all_devices(self):
        """By idle and board power of the profile: 145 and 700 W on 4 devices bound what a step takes."""
        asked = ["plan", *program.SMALL, "--objective", "energy"]
        document = self.document(*asked)
        self.assertEqual(document["objective"], "energy")
        joules = [one["energy_joules"] for one in document["ranked"]]
        self.assertEqual(joules, sorted(joules))
        for one in document["ranked"]:
            step = one["result"]["step_time_seconds"]
            self.assertGreater(one["energy_joules"], 4 * 145 * step)
            self.assertLess(one["energy_joules"], 4 * 700 * step)
        text = self.run_program(*asked).stdout
        self.assertIn("The way with the least energy", text)
        self.assertIn("less energy", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)

    def test_energy_needs_the_power_of_a_device(self):
        error = self.document("plan", "--model", program.MODEL, "--cluster", "t4-16gb", *program.SMALL[4:], "--objective", "energy", expect=30)["error"]
        self.assertIn("does not say what a device draws", error["violations"][0]["problem"])
        self.assertIn('"power"', error["violations"][0]["remedy"])

    def test_the_word_of_old_is_step(self):
        self.assertEqual(self.document("plan", *program.SMALL, "--objective", "time")["objective"], "step")

    def test_time_to_train_shows_its_checkpoints(self):
        asked = ["plan", *program.SMALL, "--objective", "time-to-train", "--steps", "1000000", "--mtbf", "30 d", "--write-bandwidth", "100 MB/s"]
        best = self.document(*asked)["ranked"][0]
        training = best["training"]
        self.assertAlmostEqual(training["time_seconds"], best["time_to_train_seconds"], delta=1e-6 * training["time_seconds"])
        self.assertGreater(training["time_seconds"], 1e6 * best["result"]["step_time_seconds"])
        self.assertLess(training["low_seconds"], training["time_seconds"])
        self.assertGreater(training["checkpoint_interval_steps"], 0)
        self.assertGreater(training["checkpoint_seconds"], 0)
        text = self.run_program(*asked).stdout
        self.assertIn(f"a checkpoint every {training['checkpoint_interval_steps']} steps", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        fixed = self.document(*asked, "--checkpoint-interval", "7")["ranked"][0]
        self.assertEqual(fixed["training"]["checkpoint_interval_steps"], 7)
        self.assertGreater(fixed["time_to_train_seconds"], best["time_to_train_seconds"])

    def test_what_counts_for_a_training_alone_is_refused_elsewhere(self):
        for more in (["--mtbf", "5 y"], ["--tokens", "1e9"], ["--spares", "1"], ["--objective", "time-to-train"]):
            self.document("plan", *program.SMALL, *more, expect=30)

    def test_parts_of_blocks_are_recomputed_where_the_program_says_them(self):
        parts = ["--fix", "recompute_scope=modules layernorm"]
        plan = json.loads(self.make_plan(*parts, "--for", "megatron").read_text())
        self.assertEqual((plan["recompute"], plan["recompute_scope"]), ("selective", "modules layernorm"))
        done = self.run_program("plan", *program.SMALL, *parts, "--for", "deepspeed", expect=10)
        self.assertIn("No plan is feasible", done.stdout)

    def test_when_gradients_meet_is_searched(self):
        """Whole gradients of 70 B fit no device where no axis cuts them: each microbatch's are reduced at once."""
        words = ["plan", "--model", "llama-3-70b", "--cluster", "h100-80gb-sxm", "--devices", 128, "--global-batch", 1024, "--sequence", 8192]
        for axis in ("tensor=1", "pipeline=1", "context=1", "zero=3"):
            words += ["--fix", axis]
        for whose in ([], ["--for", "torchtitan"]):
            self.assertEqual(self.document(*words, *whose)["ranked"][0]["plan"]["accumulation"], "reduce_each")
        self.run_program(*words, "--fix", "accumulation=reduce_last", "--fix", "offload_optimizer=false", expect=10)

    def test_a_batch_that_leaves_degrees_out_is_told(self):
        """Pipelines have more candidates than degrees that the batch leaves out, and were all that was told."""
        asked = ["plan", "--model", "gpt2", "--cluster", "h100-80gb-sxm", "--devices", 8, "--sequence", 1024, "--for", "accelerate"]
        done = self.run_program(*asked, "--global-batch", 63, expect=10)
        self.assertIn("global batch 63 is not divisible by data degree 8: --global-batch 56 or 64 lets it compete", done.stdout)
        self.run_program(*asked, "--global-batch", 64)

    def test_nothing_fits(self):
        plan = self.folder / "plan.json"
        done = self.run_program("plan", *program.SMALL, "--memory-limit", "1 MiB", "-o", plan, expect=10)
        self.assertIn("No plan is feasible", done.stdout)
        self.assertIn("memory", done.stdout)
        self.assertFalse(plan.exists())

    def test_a_signal_ends_a_search_that_explains(self):
        """Nothing fits with these axes, so each family looks for the nearest plan that does: half a minute on one core."""
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start_program("plan", "--model", "gpt-1t", "--cluster", "h100-80gb-sxm", "--devices", "64", "--global-batch", "512", "--sequence", "2048",
                                         "--fix", "data=1", "--fix", "zero=0", "--threads", "1")
            time.sleep(3)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=5), 130)

    def test_threads_change_nothing(self):
        one = self.run_program("plan", *program.SMALL, "--threads", "1", "-o", self.folder / "a.json", "--json").stdout
        eight = self.run_program("plan", *program.SMALL, "--threads", "8", "-o", self.folder / "b.json", "--json").stdout
        self.assertEqual(one.replace("a.json", "b.json"), eight)
        self.assertEqual((self.folder / "a.json").read_bytes(), (self.folder / "b.json").read_bytes())

    def test_a_limit_that_no_device_has_is_told(self):
        for limit, is_told in (("100 GiB", True), ("40 GiB", False)):
            told = self.document("plan", *program.SMALL, "--memory-limit", limit)["notes"]
            self.assertEqual(any(one["where"] == "--memory-limit" for one in told), is_told, limit)

    def test_a_gap_and_a_budget_end_the_search(self):
        plan = self.folder / "plan.json"
        exact = json.loads(self.run_program("plan", *program.SMALL, "--gap", "0", "-o", plan, "--json").stdout)
        self.assertEqual(exact["gap"], 0)
        coarse = json.loads(self.run_program("plan", *program.SMALL, "--gap", "20 %", "-o", plan, "--json").stdout)
        self.assertLessEqual(coarse["gap"], 0.2)
        self.assertLessEqual(coarse["simulated"], exact["simulated"])
        self.assertIn("within 20.0 %", coarse["proof"])
        ended = json.loads(self.run_program("plan", *program.SMALL, "--budget", "0s", "-o", self.folder / "first.json", "--json").stdout)
        self.assertGreater(ended["open"], 0)
        self.assertGreaterEqual(ended["simulated"], 1)
        self.assertGreaterEqual(ended["ranked"][0]["result"]["step_time_seconds"], exact["ranked"][0]["result"]["step_time_seconds"])
        self.assertTrue((self.folder / "first.json").exists())
        self.assertEqual(self.run_program("plan", *program.SMALL, "--budget", "soon", "-o", plan, expect=30).returncode, 30)

    def test_training_settings_stand_in_the_plan(self):
        plan = json.loads(self.make_plan("--learning-rate", "0.002", "--seed", "9").read_text())
        self.assertEqual((plan["training"]["learning_rate"], plan["training"]["seed"]), (0.002, 9))


if __name__ == "__main__":
    program.main()
