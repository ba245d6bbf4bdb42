"""`run` on this machine: one rank and two, progress files, a killed rank, resuming, Ctrl-C.

Needs the worker. Bitwise equality of the training itself is proven in tests/parity; here it is the command that is judged.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import program


class Run(program.ProgramTest):
    def plan_for(self, ranks, *more, batch=4):
        profile = self.write("machine.json", json.dumps(program.MACHINE))
        plan = self.folder / "plan.json"
        self.run_program("plan", "--model", program.MODEL, "--cluster", profile, "--devices", ranks, "--global-batch", batch, "--sequence", "64",
                         "--runnable", *more, "-o", plan)
        return plan

    def tokens(self):
        tokens = self.folder / "tokens.bin"
        if not tokens.exists():
            self.run_program("tokenize", program.ROOT / "LICENSE", "-o", tokens)
        return tokens

    def start(self, plan, folder, steps, *more):
        command = program.words(["run", plan, "--data", self.tokens(), "--steps", steps, "-o", folder, *more])
        return subprocess.Popen(command, cwd=program.ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def losses(self, folder):
        return [(line["step"], line["loss"]) for line in map(json.loads, (folder / "metrics.ndjson").read_text().splitlines())]

    def wait_for_step(self, folder, step, process, seconds=60):
        for _ in range(seconds * 50):
            if (folder / "metrics.ndjson").exists() and len((folder / "metrics.ndjson").read_text().splitlines()) >= step:
                return
            self.assertIsNone(process.poll(), "the run ended early")
            time.sleep(0.02)
        self.fail(f"step {step} did not come")

    def test_a_dry_run_shows_what_would_start(self):
        folder = self.folder / "run"
        words = ("run", self.plan_for(2, "--fix", "data=2"), "--data", self.tokens(), "--steps", 3, "-o", folder)
        self.assertRegex(self.run_program(*words, "--dry-run").stdout, r"mpirun .*-np 2 .*meshwright-worker run --plan")
        self.assertIn("srun --mpi=pmix", self.run_program(*words, "--dry-run", "--launcher", "srun").stdout)
        self.run_program(*words, "--dry-run", "--launcher", "torchrun", expect=30)
        self.run_program(*words, "--launcher", "srun", expect=30)
        self.assertFalse(folder.exists())

    def test_what_a_dry_run_shows_can_be_started(self):
        folder = self.folder / "run"
        shown = self.run_program("run", self.plan_for(2, "--fix", "data=2"), "--data", self.tokens(), "--steps", 3, "-o", folder, "--dry-run").stdout
        done = subprocess.run(["bash", "-c", shown], cwd=program.ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ledger: equal", self.run_program("compare", folder).stdout)

    def test_two_runs_do_not_share_a_folder(self):
        plan, folder = self.plan_for(2, "--fix", "data=2"), self.folder / "run"
        process = self.start(plan, folder, 100000)
        self.wait_for_step(folder, 2, process)
        for more in (), ("--resume",):
            refused = self.run_program("run", plan, "--data", self.tokens(), "--steps", 5, "-o", folder, *more, expect=30)
            self.assertIn("has not ended", refused.stderr)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)

    def test_ranks_do_not_outlive_a_killed_run_and_lose_nothing(self):
        plan, folder = self.plan_for(2, "--fix", "data=2"), self.folder / "run"
        process = self.start(plan, folder, 100000)
        self.wait_for_step(folder, 2, process)
        ranks = [self.pid_of_rank(folder, rank) for rank in (0, 1)]
        process.kill()
        process.communicate()
        refused = subprocess.run(program.words(["run", plan, "--data", self.tokens(), "--steps", 1, "-o", folder, "--resume"]), cwd=program.ROOT, text=True, capture_output=True)
        self.assertIn(refused.returncode, (0, 30), refused.stderr)
        if refused.returncode == 30:   # they may have ended already
            self.assertRegex(refused.stderr, r"has not ended: mpirun \(process \d+\)")
        for _ in range(600):
            if not any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks):
                break
            time.sleep(0.1)
        else:
            self.fail("the ranks go on")
        last = self.losses(folder)[-1][0]
        self.assertTrue((folder / f"checkpoints/step_{last:08}/index.json").exists())
        self.run_program("run", plan, "--data", self.tokens(), "--steps", last + 1, "-o", folder, "--resume")

    def test_a_run_that_is_where_it_should_be_is_left_alone(self):
        plan, folder = self.plan_for(1), self.folder / "run"
        self.run_program("run", plan, "--data", self.tokens(), "--steps", 2, "-o", folder)
        before = (folder / "metrics.ndjson").read_bytes()
        for steps in 1, 2:
            done = self.run_program("run", plan, "--data", self.tokens(), "--steps", steps, "-o", folder, "--resume")
            self.assertIn("has reached step 2 already", done.stderr)
        self.assertEqual((folder / "metrics.ndjson").read_bytes(), before)

    def test_a_run_that_was_refused_leaves_its_folder_free(self):
        words = ("run", self.plan_for(1), "--data", self.tokens(), "--steps", 1, "-o", self.folder / "run")
        self.assertIn("none.safetensors", self.run_program(*words, "--weights", "none.safetensors", expect=30).stderr)
        self.run_program(*words)

    def test_one_rank_leaves_a_whole_folder(self):
        folder = self.folder / "run"
        document = self.document("run", self.plan_for(1), "--data", self.tokens(), "--steps", 3, "-o", folder)
        self.assertEqual([step["step"] for step in document["steps"]], [1, 2, 3])
        for name in ("plan.json", "versions.json", "metrics.ndjson", "trace.0.json", "stderr.0.txt", "checkpoints"):
            self.assertTrue((folder / name).exists(), name)
        self.assertIn("ledger: equal", self.run_program("compare", folder).stdout)
        self.run_program("run", self.plan_for(1), "--data", self.tokens(), "--steps", 3, "-o", folder, expect=30)

    def test_a_killed_rank_is_named_and_the_run_goes_on_as_if_nothing_had_happened(self):
        plan = self.plan_for(2, "--fix", "data=2", "--checkpoint-interval", "2")
        folder, undisturbed = self.folder / "killed", self.folder / "undisturbed"
        self.run_program("run", plan, "--data", self.tokens(), "--steps", 12, "-o", undisturbed)
        process = self.start(plan, folder, 100000)
        self.wait_for_step(folder, 5, process)
        victim = self.pid_of_rank(folder, 1)
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        _, stderr = process.communicate(timeout=60)
        self.assertLessEqual(time.monotonic() - killed, 5)
        self.assertEqual(process.returncode, 50, stderr)
        self.assertRegex(stderr, r"rank 1 was ended by signal 9")
        self.assertRegex(stderr, r"rank 1: (step \d+, phase \w+, task \S+|writing |copying )")
        self.assertIn("--resume", stderr)
        resumed_from = len(self.losses(folder)) // 2 * 2
        self.run_program("run", folder / "plan.json", "--data", self.tokens(), "--steps", resumed_from + 4, "-o", folder, "--resume")
        losses = dict(self.losses(folder))
        for step, loss in self.losses(undisturbed):
            if step in losses:
                self.assertEqual(losses[step], loss, f"step {step}")

    def test_a_killed_rank_is_replaced_or_left_out(self):
        plan, smaller = self.plan_for(2, "--fix", "data=2", "--checkpoint-interval", "2"), self.folder / "smaller.json"
        plan.rename(self.folder / "two.json")
        plan, smaller = self.folder / "two.json", self.plan_for(1, "--checkpoint-interval", "2").rename(smaller)
        for fallback, ranks in ((), 2), (("--fallback", smaller), 1):
            folder = self.folder / f"run{ranks}"
            process = self.start(plan, folder, 40, "--max-restarts", 1, *fallback)
            self.wait_for_step(folder, 3, process)
            os.kill(self.pid_of_rank(folder, 1), signal.SIGKILL)
            _, stderr = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, stderr)
            self.assertRegex(stderr, r"restart 1 of 1: goes on from the checkpoint of step \d+; \d+ steps? (is|are) done again")
            self.assertEqual("under another layout" in stderr, ranks == 1)
            self.assertEqual([step for step, _ in self.losses(folder)], list(range(1, 41)))

    def pid_of_rank(self, folder, rank, otherwise=None):
        report = subprocess.run([program.WORKER, "report", "--out", folder, "--ranks", "2"], text=True, capture_output=True, check=True).stdout
        found = re.search(rf"rank {rank}: .*\(process (\d+)\)", report)
        return otherwise if found is None and otherwise else int(found.group(1))

    def test_interrupt_checkpoints_and_ends_with_130(self):
        folder = self.folder / "run"
        process = self.start(self.plan_for(2, "--fix", "data=2"), folder, 100000)
        self.wait_for_step(folder, 2, process)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stdout + stderr)
        self.assertIn("--resume", stderr)
        self.assertTrue(any((folder / "checkpoints").iterdir()))
        last = self.losses(folder)[-1][0]
        self.run_program("run", folder / "plan.json", "--data", self.tokens(), "--steps", last + 1, "-o", folder, "--resume")
        self.assertEqual(self.losses(folder)[-1][0], last + 1)

    def wait_for_main(self, process):
        """Until the process catches SIGINT."""
        while process.poll() is None:
            caught = int(re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text()).group(1), 16)
            if caught >> (signal.SIGINT - 1) & 1:
                return
            time.sleep(0.001)

    def test_an_interrupt_at_any_time_ends_with_130(self):
        plan = self.plan_for(2, "--fix", "data=2")
        for number, delay in enumerate((0.05, 0.2, 0.5, 0.9, 1.3)):
            for times in (1, 2):
                folder = self.folder / f"run{number}{times}"
                process = self.start(plan, folder, 100000)
                self.wait_for_main(process)   # on a busy machine the loader alone takes longer than the first delay
                for _ in range(times):
                    time.sleep(delay)
                    process.send_signal(signal.SIGTERM if number % 2 else signal.SIGINT)
                _, stderr = process.communicate(timeout=90)
                self.assertEqual(process.returncode, 130, f"{delay} s, {times}: {stderr}")
                saved = folder.exists() and any((folder / "checkpoints").glob("step_*")) if (folder / "checkpoints").exists() else False
                self.assertEqual("continue with --resume" in stderr, saved, f"{delay} s, {times}: {stderr}")
                if not saved and folder.exists() and not (folder / "metrics.ndjson").exists():   # the folder is free for the next try
                    self.run_program("run", plan, "--data", self.tokens(), "--steps", 1, "-o", folder)

    def test_a_run_leaves_the_callers_input_alone(self):
        words = program.words(["run", self.plan_for(1), "--data", self.tokens(), "--steps", 1, "-o", self.folder / "run"])
        done = subprocess.run(["bash", "-c", '"$@" > /dev/null; cat', "bash", *words], cwd=program.ROOT, text=True, input="mine\n", capture_output=True, timeout=60)
        self.assertEqual(done.stdout, "mine\n", done.stderr)

    def test_a_fallback_of_another_training_is_refused_before_anything_starts(self):
        plan = self.plan_for(2, "--fix", "data=2").rename(self.folder / "two.json")
        other = self.plan_for(1, "--seed", "5")
        done = self.run_program("run", plan, "--data", self.tokens(), "--steps", 2, "-o", self.folder / "run", "--max-restarts", 1, "--fallback", other, expect=30)
        self.assertIn("/training/seed", done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_settings_change_where_a_run_goes_on_if_asked(self):
        plan, folder = self.plan_for(1), self.folder / "run"
        words = ("run", plan, "--data", self.tokens(), "-o", folder)
        self.run_program(*words, "--steps", 2)
        refused = self.run_program(*words, "--steps", 4, "--resume", "--change", "seed=3", expect=30)
        self.assertIn("may not change while a run goes on", refused.stderr)
        done = self.run_program(*words, "--steps", 4, "--resume", "--change", "learning_rate=0.5", "--change", "minimum_learning_rate=0.5", "--change", "global_batch=8")
        self.assertIn("note: from step 3 on /training/learning_rate: ", done.stderr)
        lines = [json.loads(line) for line in (folder / "metrics.ndjson").read_text().splitlines()]
        self.assertEqual([line["lr"] for line in lines], [3e-4, 3e-4, 0.5, 0.5])
        history = [json.loads(line) for line in (folder / "history.ndjson").read_text().splitlines()]
        self.assertEqual([line["from_step"] for line in history], [0, 2])
        self.assertEqual(len(history[1]["changes"]), 3)
        self.run_program("run", folder / "plan.json", "--data", self.tokens(), "--steps", 5, "-o", folder, "--resume")   # that is how it trains now
        again = self.run_program(*words, "--steps", 6, "--resume", expect=30)
        self.assertIn("or ask for it:  --change learning_rate=", again.stderr)

    def test_other_tokens_are_told(self):
        folder, other = self.folder / "run", self.folder / "other.bin"
        self.run_program("run", self.plan_for(1), "--data", self.tokens(), "--steps", 1, "-o", folder)
        self.run_program("tokenize", program.ROOT / "README.md", "-o", other)
        done = self.run_program("run", folder / "plan.json", "--data", other, "--steps", 2, "-o", folder, "--resume")
        self.assertIn("note: from step 2 on other tokens than before", done.stderr)

    def test_a_hung_rank_is_named_and_the_run_restarts(self):
        plan = self.plan_for(2, "--fix", "data=2", "--checkpoint-interval", "2")
        for restarts, code in ((0, 50), (1, 130)):
            folder = self.folder / f"run{restarts}"
            process = self.start(plan, folder, 100000, "--hang-limit", 12, "--max-restarts", restarts)
            self.wait_for_step(folder, 5, process)
            victim = self.pid_of_rank(folder, 1)
            os.kill(victim, signal.SIGSTOP)
            stopped = time.monotonic()
            if restarts:
                while self.pid_of_rank(folder, 1, victim) == victim:
                    self.assertLess(time.monotonic() - stopped, 60)
                    time.sleep(0.2)
                self.wait_for_step(folder, len(self.losses(folder)) + 1, process)
                process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, code, stderr)
            self.assertIn("no rank has begun anything for 12 s (rank 1 holds up the run)", stderr)
            self.assertRegex(stderr, r"rank 0: .*waits (for rank 1 )?in \w+ ")
            self.assertRegex(stderr, r"rank 1: .*\(process \d+\), stopped")
            self.assertIn("stack:", (folder / "stderr.0.txt").read_text())

    def test_resuming_under_another_plan_names_the_field(self):
        folder = self.folder / "run"
        self.run_program("run", self.plan_for(1), "--data", self.tokens(), "--steps", 1, "-o", folder)
        other = self.plan_for(1, "--seed", "5")
        done = self.run_program("run", other, "--data", self.tokens(), "--steps", 2, "-o", folder, "--resume", expect=30)
        self.assertIn("/training/seed", done.stderr)

    def test_a_plan_that_the_worker_cannot_perform_is_refused_before_anything_is_written(self):
        plan = self.folder / "gpu.json"
        self.run_program("plan", *program.SMALL, "-o", plan)
        done = self.run_program("run", plan, "--data", self.tokens(), "--steps", 1, "-o", self.folder / "run", expect=30)
        self.assertIn("--device", done.stderr)
        self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    program.main(needs_worker=True)
