"""`export --to` and `import`: a plan goes to another program's configuration and comes back; what cannot be said is said."""
import json

import program

LLAMA = program.ROOT / "profiles" / "models" / "tiny-llama.json"  # torchtitan's recipe builds its kind alone
GIVEN = ["--model", program.MODEL, "--cluster", "h100-80gb-sxm", "--devices", "4"]


class ThereAndBack(program.ProgramTest):
    def leave(self, to, *more, plan=None, expect=0):
        return self.document("export", plan or self.make_plan(*more), "--to", to, "-o", self.folder / to, expect=expect)

    def test_every_program_and_back(self):
        for to, more in (("megatron", []), ("deepspeed", []), ("accelerate", ["--sequence", 128, "--global-batch", 16, "--microbatch", 2]), ("torchtitan", []), ("megatron-bridge", []), ("nemo", [])):
            model = LLAMA if to in ("torchtitan", "megatron-bridge", "nemo") else program.MODEL
            plan = self.make_plan("--fix", "pipeline=1", "--fix", "tensor=1", "--fix", "context=1", "--fix", "zero=3", "--fix", "microbatch=2", "--fp32-gradients", model=model)
            left = self.leave(to, plan=plan)
            self.assertTrue(left["version"] and left["notes"] is not None)
            given = ["--model", model, *GIVEN[2:], *(more if to != "deepspeed" else ["--sequence", 128])]
            back = self.document("import", left["files"][0], *given, "-o", self.folder / "back.json")
            self.assertEqual(back["program"], to)
            before, now = json.loads(plan.read_text()), json.loads((self.folder / "back.json").read_text())
            for key in ("mesh", "cut", "zero_stage", "microbatch_size", "microbatches"):
                self.assertEqual(before[key], now[key], f"{to} {key}")
            self.assertIn("step time", self.run_program("simulate", self.folder / "back.json").stdout)

    def test_nanotron_deals_its_blocks(self):
        """A search for it finds plans with the cut that it makes; others are refused."""
        plan = self.make_plan("--for", "nanotron", "--fix", "pipeline=2", model=LLAMA)
        left = self.leave("nanotron", plan=plan)
        self.document("import", left["files"][0], *GIVEN[2:], "-o", self.folder / "back.json")
        before, now = json.loads(plan.read_text()), json.loads((self.folder / "back.json").read_text())
        for key in ("mesh", "cut", "zero_stage", "microbatch_size", "microbatches"):
            self.assertEqual(before[key], now[key], key)

    def test_what_cannot_be_said_is_refused_all_at_once(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "tensor=2", "--fix", "sequence_parallel=true")
        error = self.leave("deepspeed", plan=plan, expect=30)["error"]
        self.assertEqual([one["where"] for one in error["violations"]], ["/mesh/pipeline", "/sequence_parallel"])
        self.assertFalse((self.folder / "deepspeed").exists())

    def test_usage(self):
        self.assertIn("megatron", self.run_program("export", "x", "--to", "horovod", "-o", "y", expect=2).stderr)
        self.assertIn("torchtitan 0.3.0, plan.py", self.run_program("export", "--help").stdout)

    def test_the_order_is_that_of_simulate(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "schedule=zb-1p")
        self.leave("csv", plan=plan)
        self.run_program("simulate", plan, "--write-order", self.folder / "order.csv")
        self.assertEqual((self.folder / "order.csv").read_text(), (self.folder / "csv/pipeline_order.csv").read_text())

    def test_a_folder_holds_a_script_and_what_it_names(self):
        folder = self.folder / "of_ours"
        folder.mkdir()
        (folder / "train.sh").write_text("deepspeed --num_gpus 4 run_clm.py --deepspeed ds.json --bf16 True --do_train --output_dir o --per_device_train_batch_size 2 --block_size 128 --learning_rate 1e-5 --gradient_checkpointing False\n")
        (folder / "ds.json").write_text('{"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}, "train_micro_batch_size_per_gpu": "auto"}')
        (folder / "notes.txt").write_text("nothing")
        read = self.run_program("import", folder, *GIVEN, "-o", self.folder / "x.json").stdout
        self.assertIn("train.sh: is what is read of the folder; it names ds.json (DeepSpeed)", read)
        self.assertEqual(json.loads((self.folder / "x.json").read_text())["zero_stage"], 2)
        (folder / "config.json").write_text((program.ROOT / "profiles/models/tiny-llama.json").read_text())
        read = self.run_program("import", folder, *GIVEN[2:], "-o", self.folder / "x.json").stdout
        self.assertIn("config.json: of the folder is taken as the network", read)
        (folder / "other.yaml").write_text("distributed_type: MULTI_GPU\nnum_processes: 4\n")
        refused = self.run_program("import", folder, *GIVEN, "-o", self.folder / "x.json", expect=30).stderr
        self.assertIn("holds several: other.yaml (Accelerate), train.sh (Transformers Trainer)", refused)
        for name in ("train.sh", "ds.json", "other.yaml"):
            (folder / name).unlink()
        refused = self.run_program("import", folder, *GIVEN, "-o", self.folder / "x.json", expect=30).stderr
        self.assertIn("holds no configuration of a known program, but a network: config.json", refused)

    def test_other_files_are_refused(self):
        done = self.run_program("import", program.MODEL, *GIVEN, "-o", self.folder / "x.json", expect=30)
        self.assertIn("is no configuration of Megatron-LM, Megatron-Bridge, NeMo 2, DeepSpeed, Accelerate, torchtitan, nanotron", done.stderr)


if __name__ == "__main__":
    program.main()
