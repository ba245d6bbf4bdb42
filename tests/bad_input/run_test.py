"""Bad input that the worker meets: tokens, checkpoints, a full disk. Needs the worker."""
import json
import pathlib
import subprocess

import refusal
from refusal import program


class Worker(refusal.RefusalTest):
    def setUp(self):
        super().setUp()
        self.plan, self.tokens, self.run_folder = self.folder / "plan.json", self.folder / "tokens.bin", self.folder / "run"
        self.run_program("plan", "--model", program.MODEL, "--cluster", self.write("machine.json", json.dumps(program.MACHINE)), "--devices", "2", "--global-batch",
                         "4", "--sequence", "64", "--runnable", "--fix", "data=2", "-o", self.plan)
        self.run_program("tokenize", program.ROOT / "LICENSE", "-o", self.tokens)

    def run_words(self, steps, *more, plan=None):
        return ["run", plan or self.plan, "--data", self.tokens, "--steps", steps, "-o", self.run_folder, *more]

    def test_token_beyond_the_vocabulary(self):
        self.tokens.write_bytes(self.tokens.read_bytes() + (300).to_bytes(2, "little"))
        self.refused(self.run_words(1), "tokens.bin", "300", "256")

    def test_half_a_token_and_too_few(self):
        self.tokens.write_bytes(b"abc")
        self.refused(self.run_words(1), "tokens.bin", "3 bytes")
        self.tokens.write_bytes(b"ab" * 64)
        self.refused(self.run_words(1), "tokens.bin", "64 tokens")
        self.assertFalse(self.run_folder.exists())

    def checkpoint_files(self):
        files = sorted(path for path in (self.run_folder / "checkpoints").rglob("*.safetensors"))
        self.assertTrue(files)
        return files

    def test_one_flipped_bit_names_the_tensor(self):
        self.run_program(*self.run_words(2))
        victim = self.checkpoint_files()[-1]
        content = bytearray(victim.read_bytes())
        content[-100] ^= 1
        victim.write_bytes(content)
        metrics = (self.run_folder / "metrics.ndjson").read_bytes()
        self.refused(self.run_words(3, "--resume", plan=self.run_folder / "plan.json"), victim.name, r"\w+\.\w+\.?\w*", "hash|differs|corrupt")
        self.assertEqual((self.run_folder / "metrics.ndjson").read_bytes(), metrics)

    def test_truncated_checkpoint(self):
        self.run_program(*self.run_words(2))
        victim = self.checkpoint_files()[0]
        victim.write_bytes(victim.read_bytes()[:1000])
        self.refused(self.run_words(3, "--resume", plan=self.run_folder / "plan.json"), victim.name)

    def test_nothing_to_resume(self):
        self.refused(self.run_words(3, "--resume"), "holds no run")

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", disk], capture_output=True).returncode != 0:
            self.skipTest("needs the right to mount")
        try:
            self.run_folder = disk / "run"
            self.refused(self.run_words(2), "a checkpoint takes", "free space on the disk")
            self.assertFalse(any((self.run_folder / "checkpoints").glob("step_*")), "half a checkpoint is visible")
            self.refused(self.run_words(2, "--resume", plan=self.run_folder / "plan.json"), "checkpoint")
        finally:
            subprocess.run(["umount", "--lazy", disk], check=True)   # a rank may still be ending


if __name__ == "__main__":
    program.main(needs_worker=True)
