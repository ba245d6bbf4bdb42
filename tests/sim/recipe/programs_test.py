"""The programs themselves read what is exported for them: DeepSpeed, Accelerate, Lightning, torchtitan and Megatron-Core from PyPI, pinned in programs.txt; the
wheels of Megatron-Bridge and NeMo 2 (programs_alone.txt, without what they need); a table of nanotron's fields, which no usable wheel holds.

`cmake/setup.sh programs` installs them into an environment of their own; where it is missing, or holds other versions, the test is skipped aloud.
The judge is their code, not ours: a recipe that they refuse, or read as another layout, batch, precision or network than the plan's, fails.
Started as: programs_test.py WRITE_RECIPES
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PYTHON = pathlib.Path(os.environ.get("MESHWRIGHT_PROGRAMS", ROOT / ".deps" / "programs" / "bin" / "python"))
LEAST = 50  # recipes of each
RANKS = 2   # that train with some of them


def why_skipped():
    if not PYTHON.exists():
        return f"no environment at {PYTHON}: cmake/setup.sh programs makes it"
    pinned = (HERE / "programs.txt").read_text().split() + (HERE / "programs_alone.txt").read_text().split()
    asked = "import importlib.metadata as m, sys; print(*[f'{n}=={m.version(n)}' for n in sys.argv[1:]])"
    done = subprocess.run([PYTHON, "-c", asked, *[one.split("==")[0] for one in pinned]], capture_output=True, text=True)
    if done.stdout.split() != pinned:
        return f"{PYTHON} holds {done.stdout.strip() or done.stderr.strip().splitlines()[-1]}, and not {' '.join(pinned)}"
    return None


class Programs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        print(subprocess.run([WRITER, cls.folder], cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        subprocess.run([WRITER, cls.folder / "ranks", str(RANKS)], cwd=ROOT, check=True, capture_output=True)

    def judge(self, name, folder=None):
        done = subprocess.run([PYTHON, HERE / "programs_judge.py", name, folder or self.folder / name], capture_output=True, text=True, timeout=900,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return json.loads(done.stdout.splitlines()[-1])

    def accepts_all(self, name, least=LEAST):
        found = self.judge(name)
        print(f"{name}: {found['accepted']} of {found['recipes']} accepted and equal")
        self.assertEqual(found["faults"], [])
        self.assertGreaterEqual(found["accepted"], least)

    def test_deepspeed(self):
        self.accepts_all("deepspeed")

    def test_accelerate(self):
        self.accepts_all("accelerate")

    def test_lightning(self):
        self.accepts_all("lightning")

    def test_torchtitan(self):
        self.accepts_all("torchtitan")

    def test_megatron(self):
        self.accepts_all("megatron")

    def test_megatron_bridge(self):
        self.accepts_all("megatron-bridge")

    def test_nemo(self):
        self.accepts_all("nemo")

    def test_nanotron(self):
        self.accepts_all("nanotron", least=20)  # of its few networks

    def test_a_name_that_a_program_does_not_have_is_seen(self):
        for program, file, name in (("megatron-bridge", "bridge_plan.py", "clip_grad="), ("nemo", "nemo_plan.py", "micro_batch_size="), ("nanotron", "nanotron.yaml", "zero_stage:")):
            place = self.folder / f"misspelt_{program}" / "0"
            place.mkdir(parents=True)
            first = self.folder / program / "0"
            (place / "expected.json").write_text((first / "expected.json").read_text())
            (place / file).write_text((first / file).read_text().replace(name, "x_" + name))
            self.assertIn("x_" + name[:-1], self.judge(program, place.parent)["faults"][0])

    def trains(self, name, least):
        done = subprocess.run([PYTHON, HERE / "programs_run.py", name, self.folder / "ranks" / name, str(RANKS)], capture_output=True, text=True, timeout=900,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        found = json.loads(done.stdout.splitlines()[-1])
        print(f"{name} on {RANKS} ranks: {found['accepted']} of {found['recipes']} trained as one process does; left out: {found['left_out'] or 'none'}")
        self.assertEqual(found["faults"], [])
        self.assertGreaterEqual(found["accepted"], least)

    def test_deepspeed_trains(self):
        self.trains("deepspeed", LEAST)

    def test_accelerate_trains(self):
        self.trains("accelerate", LEAST)

    def test_pipelines_train(self):
        self.trains("csv", LEAST)

    def test_a_planted_fault_is_seen(self):
        place = self.folder / "planted" / "0"
        place.mkdir(parents=True)
        first = self.folder / "deepspeed" / "0"
        (place / "expected.json").write_text((first / "expected.json").read_text())
        recipe = json.loads((first / "ds_config.json").read_text())
        (place / "ds_config.json").write_text(json.dumps({**recipe, "communication_data_type": "bfp16"}))
        self.assertIn("communication_data_type", self.judge("deepspeed", place.parent)["faults"][0])
        (place / "ds_config.json").write_text(json.dumps({**recipe, "gradient_accumulation_steps": recipe["gradient_accumulation_steps"] + 1}))
        self.assertIn("global_batch", self.judge("deepspeed", place.parent)["faults"][0])

    def test_another_network_is_seen(self):
        for program, file, mark, change in (("megatron", "pretrain.sh", "--qk-layernorm", lambda text: text.replace("  --qk-layernorm \\\n", "")),
                                            ("torchtitan", "plan.py", "qk_nope_head_dim=128", lambda text: text.replace("qk_nope_head_dim=128", "qk_nope_head_dim=64"))):
            first = next(place for place in sorted((self.folder / program).iterdir()) if mark in (place / file).read_text())
            place = self.folder / f"planted_{program}" / "0"
            place.mkdir(parents=True)
            (place / "expected.json").write_text((first / "expected.json").read_text())
            (place / file).write_text(change((first / file).read_text()))
            self.assertIn("in the plan's network", self.judge(program, place.parent)["faults"][0])


if __name__ == "__main__":
    WRITER = pathlib.Path(sys.argv.pop()).resolve()
    if reason := why_skipped():
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
