"""No command writes over what it reads, over what somebody else wrote, or over another result of its own; what it wrote itself it may write again."""
import json
import shutil

import refusal
from refusal import program

PRECIOUS = "Dear diary, all of it is in here.\n"


class Outputs(refusal.RefusalTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "config.json"
        shutil.copy(program.MODEL, self.model)
        self.machine = self.folder / "machine.json"
        shutil.copy(program.ROOT / "profiles/hardware/h100-80gb-sxm.json", self.machine)
        self.stack = self.folder / "stack.json"
        shutil.copy(program.ROOT / "profiles/software/meshwright.json", self.stack)
        self.text = self.write("text.txt", "some text")
        self.rows = self.write("rows.json", "[" + (program.ROOT / "profiles/published/rows.json").read_text().split("\n")[1].rstrip(",") + "]")
        self.plan = self.make_plan(name="made.json")
        self.order = self.folder / "order.csv"
        self.run_program("simulate", self.plan, "--write-order", self.order)
        self.script = self.write("train.sh", "torchrun pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 "
                                             "--vocab-size 256 --micro-batch-size 1 --global-batch-size 8 --bf16")

    def commands(self):
        """Words without outputs; each output's option and a name of its kind; what is read."""
        small = program.SMALL[4:]
        return {
            "plan": (["plan", "--model", self.model, "--cluster", self.machine, "--software", self.stack, *small], {"-o": "p.json"}, [self.model, self.machine, self.stack]),
            "tokenize": (["tokenize", self.text], {"-o": "t.bin"}, [self.text]),
            "simulate": (["simulate", self.plan, "--order", self.order],
                         {"--timeline": "t.json", "--memory-snapshot": "m.pickle", "--write-order": "o.csv", "--write-plan": "w.json", "--ledger": "l.csv"}, [self.plan, self.order]),
            "perfetto": (["simulate", self.plan], {"--timeline": "t.pftrace"}, [self.plan]),
            "import": (["import", self.script, "--cluster", self.machine, "--devices", 1], {"-o": "i.json"}, [self.script, self.machine]),
            "validate": (["validate", self.rows], {"-o": "v.json"}, [self.rows]),
        }

    def test_nothing_read_is_lost(self):
        for name, (command, outputs, inputs) in self.commands().items():
            for option in outputs:
                for path in inputs:
                    with self.subTest(name, option=option, path=path.name):
                        before = path.read_bytes()
                        self.refused([*command, option, path], path.name)
                        self.assertEqual(path.read_bytes(), before)

    def test_nothing_of_others_is_lost_and_our_own_is_written_again(self):
        for name, (command, outputs, _) in self.commands().items():
            for option, file in outputs.items():
                with self.subTest(name, option=option):
                    path = self.folder / file
                    path.write_text(PRECIOUS)
                    self.refused([*command, option, path], file, "is there already", "remove this one")
                    self.assertEqual(path.read_text(), PRECIOUS)
                    path.unlink()
                    self.run_program(*command, option, path)
                    self.run_program(*command, option, path)

    def test_no_result_is_lost_to_another(self):
        command, outputs, _ = self.commands()["simulate"]
        for one in outputs:
            for other in outputs:
                if one < other:
                    with self.subTest(one=one, other=other):
                        path = self.folder / "both"
                        self.refused([*command, one, path, other, self.folder / "." / "both"], "named for two results")
                        self.assertFalse(path.exists())

    def test_files_that_a_prefix_names(self):
        """Of --chakra: a file a rank, and the groups."""
        plan = self.make_plan("--fix", "data=4", name="data.json")
        for name in ("c.0.et", "c.3.et", "c.groups.json"):
            with self.subTest(name):
                theirs = self.write(name, PRECIOUS)
                self.refused(["simulate", plan, "--chakra", self.folder / "c"], name, "is there already")
                self.assertEqual(theirs.read_text(), PRECIOUS)
                theirs.unlink()
        for _ in range(2):
            self.run_program("simulate", plan, "--chakra", self.folder / "c")
        self.refused(["simulate", plan, "--chakra", self.folder / "d", "--timeline", self.folder / "d.groups.json"], "named for two results")

    def test_files_of_a_folder(self):
        """Of validate: the plan of each row, and the fitted profiles."""
        row = json.loads(self.rows.read_text())[0]["id"].replace("/", "_") + ".json"
        for option, name in (("--plans", row), ("--fit", "hardware/a100-80gb-sxm.json")):
            with self.subTest(option):
                folder = self.folder / "out"
                (folder / "hardware").mkdir(parents=True)
                theirs = self.write(f"out/{name}", PRECIOUS)
                self.assertIn("is there already", self.run_program("validate", self.rows, option, folder, expect=30).stderr)   # of a row: the others go on
                self.assertEqual(theirs.read_text(), PRECIOUS)
                theirs.unlink()
                for _ in range(2):
                    self.run_program("validate", self.rows, option, folder)
                shutil.rmtree(folder)

    def test_a_profile_is_not_lost_to_a_plan(self):
        before = self.machine.read_bytes()
        self.refused(["plan", *program.SMALL, "-o", self.machine], "machine.json", "is there already")
        self.refused(["simulate", self.plan, "--write-plan", self.stack], "stack.json", "is there already")
        self.refused(["validate", self.rows, "-o", self.plan], "made.json", "is there already")
        self.assertEqual(self.machine.read_bytes(), before)

    def test_a_recipe_takes_no_file_of_others(self):
        plan = self.make_plan("--for", "deepspeed", name="deepspeed.json")
        folder = self.folder / "recipe"
        folder.mkdir()
        theirs = self.write("recipe/ds_config.json", json.dumps({"train_batch_size": 1}))
        self.refused(["export", plan, "--to", "deepspeed", "-o", folder], "ds_config.json", "is there already")
        self.assertEqual(json.loads(theirs.read_text()), {"train_batch_size": 1})
        theirs.unlink()
        for _ in range(2):
            self.run_program("export", plan, "--to", "deepspeed", "-o", folder)

    def test_a_folder_of_steps_is_no_output(self):
        folder = self.folder / "run"
        folder.mkdir()
        self.refused(["plan", *program.SMALL, "-o", folder], "Is a directory")

    def test_a_wrong_path_is_no_broken_checkpoint(self):
        self.refused(["export", self.folder / "none", "-o", self.folder / "x"], "none: is not there", "check the path")
        self.refused(["export", self.plan, "-o", self.folder / "x"], "is no run folder", "--to")


if __name__ == "__main__":
    program.main()
