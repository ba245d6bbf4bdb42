"""The worker on a GPU: gpu_worker_test.py <worker> <plans>. Skipped aloud without one."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WORKER, PLANS = sys.argv[1:3]


def gpus():
    if shutil.which("nvidia-smi") is None:
        return []
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines()


class WorkerOnAGpu(unittest.TestCase):
    def setUp(self):
        if not gpus():
            self.skipTest("no GPU: nvidia-smi names none")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="meshwright-gpu-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_worker(self, *more, plan="solo", steps=4):
        tokens = self.folder / "tokens.bin"
        tokens.write_bytes(b"".join((at * 7 % 31).to_bytes(2, "little") for at in range(2000)))
        command = [WORKER, "run", "--plan", f"{PLANS}/{plan}.json", "--data", str(tokens), "--steps", str(steps), "--out", str(self.folder / "run"), *more]
        return subprocess.run(command, capture_output=True, text=True)

    def test_reports_memory_and_device(self):
        snapshot = self.folder / "memory.pickle"
        ended = self.run_worker("--device", "cuda", "--memory-snapshot", str(snapshot))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("device: cuda:0", ended.stderr)
        steps = [json.loads(line) for line in (self.folder / "run/metrics.ndjson").read_text().splitlines()]
        self.assertLess(0, steps[-1]["memory_allocated_bytes"])
        self.assertLessEqual(steps[-1]["memory_allocated_bytes"], steps[-1]["memory_reserved_bytes"])
        self.assertLess(steps[-1]["memory_reserved_bytes"], steps[-1]["memory_device_bytes"])
        self.assertIn("CUDA", json.loads((self.folder / "run/versions.worker.json").read_text())["device_name"])
        self.assertEqual(snapshot.read_bytes()[:1], b"\x80")

    def test_a_graph_trains_alike(self):
        losses = []
        for more in ([], ["--cuda-graphs"]):
            ended = self.run_worker("--device", "cuda", *more, steps=8)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            losses.append([json.loads(line)["loss"] for line in (self.folder / "run/metrics.ndjson").read_text().splitlines()])
            shutil.rmtree(self.folder / "run")
        for issued, replayed in zip(*losses, strict=True):
            self.assertAlmostEqual(issued, replayed, delta=1e-4 * issued)

    def test_nccl_refuses_two_ranks_on_one_gpu(self):
        if len(gpus()) != 1 or shutil.which("mpirun") is None:
            self.skipTest("needs one GPU and mpirun")
        ended = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", WORKER, "run", "--plan", f"{PLANS}/zero3.json", "--data", "none",
                                "--steps", "1", "--out", str(self.folder / "run"), "--device", "cuda", "--communication", "nccl"],
                               capture_output=True, text=True)
        self.assertEqual(ended.returncode, 30, ended.stderr)

    def losses_of_two(self, plan, *more):
        tokens = self.folder / "tokens.bin"
        tokens.write_bytes(b"".join((at * 7 % 31).to_bytes(2, "little") for at in range(2000)))
        ended = subprocess.run(["mpirun", "--allow-run-as-root", "-np", "2", WORKER, "run", "--plan", f"{PLANS}/{plan}.json", "--data", str(tokens), "--steps", "8",
                                "--out", str(self.folder / "run"), "--device", "cuda", "--no-checkpoint", *more], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        losses = [json.loads(line)["loss"] for line in (self.folder / "run/metrics.ndjson").read_text().splitlines()]
        shutil.rmtree(self.folder / "run")
        return losses

    def test_two_cards_train_over_nccl_as_through_the_host(self):
        if len(gpus()) < 2 or shutil.which("mpirun") is None:
            self.skipTest("needs two GPUs and mpirun")
        for plan, more in (("zero3", []), ("tensor", []), ("pipeline", []), ("tensor", ["--cuda-graphs"])):
            staged, joined = self.losses_of_two(plan, "--communication", "mpi"), self.losses_of_two(plan, "--communication", "nccl", *more)
            for one, other in zip(staged, joined, strict=True):
                self.assertAlmostEqual(one, other, delta=1e-4 * one, msg=f"{plan} {more}")

    def test_the_doctor_sees_the_cards(self):
        ended = subprocess.run([WORKER, "doctor"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        for number in range(len(gpus())):
            self.assertIn(f"cuda:{number}", ended.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
