"""Every published config.json is planned and simulated as downloaded; what the worker lacks is refused by the worker alone."""
import json
import pathlib
import re
import subprocess

import program

CONFIGS = program.ROOT / "profiles" / "models"
NAMES = sorted(json.loads((program.ROOT / "tests/sim/model/parameters.json").read_text()))
OF_MAPS = {name for name in NAMES if name.startswith(("resnet", "regnet"))}   # a sample is one image
OF_PATCHES = {name for name in NAMES if name.startswith("vit")}  # 196 patches and one token
OF_LINEAR = {"qwen3-next-80b-a3b", "bamba-9b", "nemotron-h-8b", "nemotron-3-nano-30b-a3b", "mamba2-2.7b",
             "granite-4.0-h-small", "qwen3.5-27b", "qwen3.5-397b-a17b", "kimi-linear-48b-a3b", "llama-4-scout-17b-16e", "llama-4-maverick-17b-128e", "deepseek-v3.2", "glm-5"}
LACKED = OF_LINEAR | OF_MAPS | OF_PATCHES
CLUSTER = ("--cluster", "h100-80gb-sxm", "--devices", "1024", "--global-batch", "1024", "--sequence")
FIXED = ("--fix", "microbatch=1", "--fix", "tensor=1", "--fix", "pipeline=1", "--fix", "zero=3", "--fix", "recompute=full",
         "--fix", "context=1", "--fix", "replicas=1", "--fix", "reshard_ranks=1", "--fix", "layers_per_unit=1")
DEALT = {"kimi-linear-48b-a3b": 8, "qwen3-next-80b-a3b": 8, "qwen3.5-397b-a17b": 8, "llama-4-scout-17b-16e": 8, "llama-4-maverick-17b-128e": 8, "nemotron-3-nano-30b-a3b": 8,
         "granite-4.0-h-small": 8, "deepseek-v3": 8, "deepseek-v3.2": 8, "glm-5": 8, "kimi-k2": 8}  # ranks that share the experts of a layer, where one cannot hold them


class Families(program.ProgramTest):
    def question(self, name):
        return (*CLUSTER, 1 if name in OF_MAPS else 197 if name in OF_PATCHES else 512, *FIXED)

    def planned(self, config, *more):
        plan = self.folder / "plan.json"
        expert = ("--fix", f"expert={DEALT.get(config.stem, 1)}")
        self.run_program("plan", "--model", config, *(more or self.question(config.stem)), *expert, "--threads", "1", "-o", plan)
        return plan

    def length(self, config, *question):
        """256 tokens, or as many as an image has: what the refusal of 256 advises."""
        done = subprocess.run(program.words(["plan", "--model", config, *question, "--sequence", "256"]), text=True, capture_output=True)
        advised = re.search(r"use sequence (\d+)$", done.stderr, re.M)
        return advised[1] if done.returncode == 30 and advised else "256"

    def step_time(self, **changes):
        config = self.folder / "config.json"
        config.write_text(json.dumps(json.loads((CONFIGS / "mistral-7b.json").read_text()) | changes))
        long = ("--cluster", "h100-80gb-sxm", "--devices", "8", "--global-batch", "8", "--sequence", "32768") + FIXED
        number, unit = json.loads(self.planned(config, *long).read_text())["predictions"]["step_time"].split()
        return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit]

    def test_every_config_is_planned_and_simulated(self):
        for name in NAMES:
            with self.subTest(name):
                plan = self.planned(CONFIGS / f"{name}.json")
                self.run_program("simulate", plan)

    def test_what_a_class_takes_is_planned(self):
        for family, content in sorted(json.loads((program.ROOT / "tests/sim/model/families.json").read_text()).items())[::6]:
            with self.subTest(family):
                config = self.folder / f"{family}.json"
                config.write_text(json.dumps(content["config"]))
                few = ("--cluster", "h100-80gb-sxm", "--devices", "64", "--global-batch", "64", *FIXED)
                self.run_program("simulate", self.planned(config, *few, "--sequence", self.length(config, *few)))

    def test_a_window_is_less_work(self):
        whole, windowed = self.step_time(sliding_window=None), self.step_time(sliding_window=4096)
        self.assertLess(windowed, 0.9 * whole)  # an eighth of the keys
        self.assertEqual(self.step_time(sliding_window=32768), whole)  # as long as the sample

    def test_what_the_worker_lacks_is_named(self):
        for name in NAMES:
            with self.subTest(name):
                done = self.run_program("plan", "--model", CONFIGS / f"{name}.json", *self.question(name), "--runnable", "-o",
                                        self.folder / "plan.json", expect=10 if name in LACKED else 0)
                if name in LACKED:
                    self.assertIn("not_runnable", done.stdout + done.stderr)


if __name__ == "__main__":
    program.main()
