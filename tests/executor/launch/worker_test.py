"""The worker as a program: trains, writes its files, survives kills bitwise, ends with the documented codes. Run: worker_test.py <worker> <plans> <planted worker>"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

WORKER, PLANS, PLANTED = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
PATIENCE = 120   # seconds that a rank waits for another (executor/launch/worker_options.h): what is found at once does not take half of them on any machine


def command(plan, folder, steps, *more, ranks=1, data=None, worker=WORKER):
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] if ranks > 1 else []
    return [*launcher, worker, "run", "--plan", str(PLANS / f"{plan}.json"), "--data", str(data or folder.parent / "tokens.bin"),
            "--steps", str(steps), "--out", str(folder), *more]


def run(*arguments, environment=ENVIRONMENT, **named):
    return subprocess.run(command(*arguments, **named), env=environment, capture_output=True, text=True, timeout=120)


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.ndjson").read_text().splitlines()]


def losses(folder):
    return [(line["step"], line["loss"], line["grad_norm"]) for line in metrics(folder)]


def hashes(folder, step):
    return json.loads((folder / "checkpoints" / f"step_{step:08}" / "index.json").read_text())["files"]


class Worker(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.scratch.name)
        tokens = [(at * at + 5 * at) % 31 for at in range(600)]
        (self.root / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))

    def tearDown(self):
        self.scratch.cleanup()

    def test_trains_and_writes_its_files(self):
        folder = self.root / "run"
        ended = run("solo", folder, 6)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual([line["step"] for line in metrics(folder)], [1, 2, 3, 4, 5, 6])
        self.assertLess(metrics(folder)[-1]["loss"], metrics(folder)[0]["loss"])
        self.assertGreater(metrics(folder)[0]["memory_allocated_bytes"], 0)
        trace = json.loads((folder / "trace.0.json").read_text())
        self.assertGreater(len(trace["traceEvents"]), 6 * 10)
        self.assertTrue(json.loads((folder / "versions.worker.json").read_text())["libtorch"].startswith("2.11."))
        self.assertTrue((folder / "checkpoints/step_00000006/index.json").exists())

    def test_resumes_bitwise_wherever_it_was_killed(self):
        saving = ["save.4.begin", "save.4.copied", "save.4.tensors", "save.4.shards", "save.4.index", "save.4.renamed", "save.4.removed"]
        while_saving = ["backward.mlp.none.0", "step.update.none.0"]   # of the step that follows a save
        points = {
            ("solo", 1): ["forward.head.none.0", *while_saving, "step.norm_part.none.0", *saving],
            ("zero3", 2): ["forward.all_gather.data.", "forward.reshard.none.", "backward.all_gather.data.", "backward.attention.none.0", "gradients.reduce_scatter.data.",
                           "step.all_reduce.world.0", "step.update.none.", *saving[1:5]],
            ("pipeline", 2): ["forward.send.pipeline.0", "backward.receive.pipeline.0", "step.update.none."],
            ("tensor", 2): ["forward.all_gather.tensor.", "backward.reduce_scatter.tensor.", "recompute.attention.none.0", "gradients.all_reduce.tensor.0"],
        }
        self.assertGreaterEqual(sum(map(len, points.values())), 20)
        for (plan, ranks), ends in points.items():
            whole = self.root / f"{plan}-whole"
            self.assertEqual(run(plan, whole, 6, ranks=ranks).returncode, 0)
            keys = [event["args"]["key"] for event in json.loads((whole / "trace.0.json").read_text())["traceEvents"] if "key" in event.get("args", {})]
            for end in ends:
                point = end if end.startswith("save.") else f"step.{4 if end in while_saving else 3}." + next(key for key in keys if end in key)
                folder = self.root / f"{plan}-{point}"
                self.assertNotEqual(run(plan, folder, 6, "--kill-at", point, ranks=ranks).returncode, 0, point)
                saved = sorted((folder / "checkpoints").glob("step_*/index.json"))   # tiny steps may all pass before the first save is there
                ended = run(plan, folder, 6, *(["--resume"] if saved else []), ranks=ranks)
                self.assertEqual(ended.returncode, 0, f"{plan} {point}: {ended.stderr}")
                self.assertEqual(losses(folder), losses(whole), f"{plan} {point}")
                self.assertEqual(hashes(folder, 6), hashes(whole, 6), f"{plan} {point}")

    def test_a_rank_that_issues_another_collective_is_named_at_once(self):
        for bug in ("skipped_collective", "other_group"):
            folder = self.root / bug
            start = time.monotonic()
            ended = run("zero3", folder, 100, ranks=2, worker=PLANTED, environment=ENVIRONMENT | {"MESHWRIGHT_PLANTED_BUG": bug})
            self.assertLess(time.monotonic() - start, PATIENCE / 2)
            self.assertEqual(ended.returncode, 50)
        words = (self.root / "skipped_collective/stderr.0.txt").read_text()
        self.assertIn("data group of ranks 0 1: the ranks disagree. Rank 1 issued", words)
        self.assertRegex(words, r"Rank 1 issued all_gather \S+ #\d+ .* while rank 0 issued reduce_scatter \S+\.gradients\.reduce_scatter\.data\.0")
        for rank in (0, 1):
            words = (self.root / f"other_group/stderr.{rank}.txt").read_text()
            self.assertRegex(words, r"rank 0 waits for rank 1 in reduce_scatter \S+ .* \(data group of ranks 0 1\)")
            self.assertRegex(words, r"rank 1 waits for rank 0 in reduce_scatter \S+ .* \(world group of ranks 0 1\)")

    def test_the_others_say_why_they_end_too(self):
        """Rank 1 alone reads the part of the file that no token of this network is in; rank 0 waits for it."""
        folder = self.root / "run"
        ended = run("zero3", folder, 2, ranks=2, data=self.token_file([1] * 300 + [31]))
        self.assertEqual(ended.returncode, 30)
        self.assertIn("token 31 at position 300", (folder / "stderr.1.txt").read_text())
        self.assertRegex((folder / "stderr.0.txt").read_text(), r"error: rank 1 has ended: .*token 31 at position 300")

    def test_a_killed_rank_ends_the_job_in_time_and_is_reported(self):
        folder = self.root / "run"
        start = time.monotonic()
        ended = run("zero3", folder, 1000, "--kill-at", "step.2.s0.c0.m0.l1.backward.attention.none.0", "--kill-rank", "1", ranks=2)
        self.assertLess(time.monotonic() - start, PATIENCE / 2)
        self.assertNotEqual(ended.returncode, 0)
        report = subprocess.run([WORKER, "report", "--out", folder, "--ranks", "2"], capture_output=True, text=True).stdout
        self.assertIn("rank 1: step 2, phase backward, task s0.c0.m0.l1.backward.attention.none.0", report)

    def test_stop_signals_finish_the_step_and_checkpoint(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            folder = self.root / f"stop-{number}"
            process = subprocess.Popen(command("solo", folder, 1000000), env=ENVIRONMENT, stderr=subprocess.DEVNULL)
            while not (folder / "metrics.ndjson").exists() or not metrics(folder):
                time.sleep(0.05)
            process.send_signal(number)
            self.assertEqual(process.wait(30), 130)
            last = metrics(folder)[-1]["step"]
            self.assertTrue((folder / "checkpoints" / f"step_{last:08}" / "index.json").exists())

    def test_ranks_that_a_script_started_keep_others_out_of_their_folder(self):
        folder = self.root / "run"
        first = subprocess.Popen(command("zero3", folder, 1000000, ranks=2), env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        while not (folder / "metrics.ndjson").exists() or not metrics(folder):
            time.sleep(0.05)
        second = run("solo", folder, 2)
        self.assertEqual(second.returncode, 30)
        self.assertRegex(second.stderr, r"is being written by a run that has not ended: meshwright-work \(process \d+\); wait for it, or end it:  kill \d+")
        report = subprocess.run([WORKER, "report", "--out", folder, "--ranks", "2"], capture_output=True, text=True).stdout
        self.assertRegex(report, r"rank 0: .+\nrank 1: .+")   # a step's task, or the trace that is being written
        first.send_signal(signal.SIGUSR1)
        self.assertNotEqual(first.wait(60), 0)
        self.assertEqual(run("zero3", folder, metrics(folder)[-1]["step"] + 2, "--resume", ranks=2).returncode, 0)

    def test_bad_input_is_named(self):
        folder = self.root / "run"
        for more, plan, code, words in (
                ({"data": self.root / "none.bin"}, "solo", 30, "cannot be read"),
                ({"data": self.token_file([1] * 200 + [31])}, "solo", 30, "token 31 at position 200 is beyond the model's vocabulary of 31"),
                ({"data": self.token_file([1] * 5)}, "solo", 30, "has 5 tokens"),
                ({}, "gpu", 30, "no GPU")):
            ended = run(plan, folder, 2, **more)
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.assertIn(words, ended.stderr)
        ended = run("zero3", folder, 2, ranks=2, data=self.root / "none.bin")
        self.assertEqual(ended.returncode, 30)
        self.assertIn("cannot be read", (folder / "stderr.0.txt").read_text())
        ended = run("zero3", folder, 2)   # a plan for two
        self.assertEqual(ended.returncode, 30)
        self.assertIn("/mesh: has 2 ranks, but 1 were started; start it with:  meshwright run, or mpirun -np 2", ended.stderr)
        self.assertEqual(subprocess.run([WORKER, "run"], capture_output=True).returncode, 2)
        ended = run("solo", folder, 2, "--cuda-graphs")
        self.assertEqual(ended.returncode, 30)
        self.assertIn("--device: no CUDA graph: a CPU performs what it is told at once", ended.stderr)
        ended = run("solo", folder, 2, "--resume")
        self.assertEqual(ended.returncode, 30)
        self.assertIn("holds no complete checkpoint", ended.stderr)

    def test_diverged_training_ends_with_the_reason(self):
        ended = run("diverging", self.root / "run", 50)
        self.assertEqual(ended.returncode, 30)
        self.assertIn("/training/learning_rate: step", ended.stderr)

    def test_a_full_disk_loses_nothing(self):
        disk = self.root / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("needs the right to mount")
        try:
            ended = run("solo", disk / "run", 8, data=self.root / "tokens.bin")   # the second checkpoint does not fit
            self.assertEqual(ended.returncode, 30, ended.stderr)
            self.assertIn("a checkpoint takes", ended.stderr)
            self.assertIn("free space on the disk", ended.stderr)
            self.assertTrue((disk / "run/checkpoints/step_00000002/index.json").exists())
        finally:
            subprocess.run(["umount", disk], check=True)

    def token_file(self, tokens):
        path = self.root / f"tokens-{len(tokens)}.bin"
        path.write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
        return path


if __name__ == "__main__":
    unittest.main(verbosity=2)
