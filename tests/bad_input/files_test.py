"""Bad files and bad values, refused before anything runs."""
import json
import os

import refusal
from refusal import program


class ModelConfig(refusal.RefusalTest):
    def plan(self, content, *parts, more=(), expect=30):
        path = self.write("config.json", content if isinstance(content, (str, bytes)) else json.dumps(content))
        output = self.folder / "plan.json"
        self.refused(["plan", "--model", path, *program.SMALL[2:], *more, "-o", output], "config.json", *parts, expect=expect)
        self.assertFalse(output.exists())

    def config(self, **changes):
        content = json.loads(program.MODEL.read_text())
        content.update(changes)
        return content

    def test_empty(self):
        self.plan("", "is empty")

    def test_truncated(self):
        self.plan(program.MODEL.read_text()[:100], "not JSON", r"line \d+")

    def test_not_json(self):
        self.plan("model: gpt2\n", "not JSON")

    def test_binary(self):
        self.plan(bytes(range(256)) * 64, "not JSON")

    def test_an_array(self):
        self.plan("[1, 2]", "object")

    def test_nesting_200000_deep(self):
        self.plan("[" * 200000 + "]" * 200000, "nests deeper")
        self.plan('{"a":' * 200000 + "1" + "}" * 200000, "nests deeper")

    def test_unknown_model_type(self):
        self.plan(self.config(model_type="transformer-xl"), "model_type", "transformer-xl", "none of the", "docs/families.md")

    def test_sizes(self):
        for wrong in (-1, 0, 1e300, "many", None, [4], 2.5):
            with self.subTest(n_embd=wrong):
                self.plan(self.config(n_embd=wrong), "n_embd")
        self.plan(json.dumps(self.config(n_layer=4)).replace('"n_layer": 4', '"n_layer": Infinity'), "n_layer", "missing")   # Python's, as good as null
        self.plan(json.dumps(self.config(n_layer=4)).replace('"n_layer": 4', '"n_layer": 1e999'), "not JSON|n_layer")

    def test_heads_that_do_not_divide_the_width(self):
        self.plan(self.config(n_head=3), "n_head", "128")

    def test_every_violation_at_once(self):
        self.plan(self.config(n_embd=-1, n_layer=0, vocab_size="x"), "n_embd", "n_layer", "vocab_size")

    def test_missing_file_and_folder(self):
        self.refused(["plan", "--model", self.folder / "none.json", *program.SMALL[2:], "-o", "x"], "none.json", "No such file")
        self.refused(["plan", "--model", self.folder, *program.SMALL[2:], "-o", "x"], "directory|folder")


class Hardware(refusal.RefusalTest):
    def profile(self, *parts, **changes):
        content = json.loads((program.ROOT / "profiles" / "hardware" / "h100-80gb-sxm.json").read_text())
        content.pop("sources", None)
        content.update(changes)
        path = self.write("machine.json", json.dumps(content))
        self.refused(["plan", *program.SMALL[:2], "--cluster", path, *program.SMALL[4:], "-o", self.folder / "plan.json"], "machine.json", *parts)

    def test_missing_unit(self):
        self.profile("/memory", "unit", memory="80")
        self.profile("/memory", memory=80)
        self.profile("/memory_bandwidth", "unit", memory_bandwidth="3352 GB")

    def test_negative_and_infinite(self):
        self.profile("/memory", memory="-80 GiB")
        self.profile("/memory_bandwidth", memory_bandwidth="inf GB/s")
        self.profile("/matrix_efficiency", matrix_efficiency=7)

    def test_no_source(self):
        self.profile("/source", source="")

    def test_unknown_name_lists_the_known_ones(self):
        self.refused(["plan", *program.SMALL[:2], "--cluster", "h200", *program.SMALL[4:], "-o", "x"], "h200", "h200-141gb-sxm")

    def test_no_number_of_devices(self):
        self.refused(["plan", *program.SMALL[:2], "--cluster", "h100-80gb-sxm", "--global-batch", "4", "--sequence", "8", "-o", "x"], "--devices")


class Request(refusal.RefusalTest):
    def request(self, more, *parts, expect=30):
        return self.refused(["plan", *program.SMALL, *more, "-o", self.folder / "plan.json"], *parts, expect=expect)

    def infeasible(self, more, *parts):
        done = self.run_program("plan", *program.SMALL, *more, "-o", self.folder / "plan.json", expect=10)
        for part in parts:
            self.assertRegex(done.stdout, part)
        self.assertFalse((self.folder / "plan.json").exists())

    def test_heads_not_divisible_by_tensor(self):
        self.infeasible(["--fix", "tensor=3"], "tensor=3", "heads", "nearest fix")

    def test_degrees_that_do_not_multiply_to_the_ranks(self):
        self.infeasible(["--fix", "tensor=4", "--fix", "data=4"], "16", r"\b4\b")

    def test_unknown_axis_and_value(self):
        self.request(["--fix", "width=2"], "width", "tensor")
        self.request(["--fix", "tensor=two"], "tensor", "two")
        self.request(["--fix", "schedule=zigzag"], "zigzag", "1f1b")

    def test_memory_limit_without_unit(self):
        self.request(["--memory-limit", "80"], "--memory-limit", "80 GiB")

    def test_usage(self):
        for more in (["--global-batch", "-1"], ["--sequence", "0"], ["--devices", "x"], ["--fix", "tensor"]):
            self.refused(["plan", *program.SMALL, *more, "-o", "x"], more[0], expect=2)

    def test_a_sequence_longer_than_the_positions(self):
        self.refused(["plan", *program.SMALL[:-1], "4096", "-o", self.folder / "plan.json"], "/workload/sequence", "4096", "256")


class Notes(refusal.RefusalTest):
    """What no plan takes is told before the result, unknown keys first; typos get the nearest name."""

    def said(self, model, *more):
        path = self.write("config.json", json.dumps(model))
        words = ["plan", "--model", path, "--cluster", "h100-80gb-sxm", "--devices", 2, "--global-batch", 4, *more, "-o", self.folder / "plan.json"]
        document = self.document(*words)
        return self.run_program(*words).stderr, [note["where"] for note in document["notes"]]

    def test_keys_and_positions(self):
        model = json.loads((program.ROOT / "profiles/models/tiny-llama.json").read_text())
        stderr, notes = self.said({**model, "num_nextn_predict_layers": 1, "hyper_blocks": 2}, "--sequence", 2 * model["max_position_embeddings"])
        self.assertEqual(notes, ["hyper_blocks", "num_nextn_predict_layers", "/workload/sequence"])
        self.assertRegex(stderr, r"note: hyper_blocks: is 2, which nobody here knows")
        self.assertRegex(stderr, r"MTP\): a plan has none of them unless it says mtp_layers")
        self.assertRegex(stderr, r"beyond the \d+ positions")
        self.assertEqual(self.said(model, "--sequence", 64), ("", []))

    def test_the_nearest_name(self):
        plan, small = self.folder / "plan.json", [*program.SMALL, "-o", self.folder / "plan.json"]
        for words, code, near in ((["plna"], 2, "did you mean plan"), (["plan", *small, "--fix", "tensr=2"], 30, "did you mean tensor"),
                                  (["plan", *small, "--fix", "schedule=1f1"], 30, "did you mean 1f1b"), (["plan", *small, "--optimizer", "adam"], 30, "did you mean adamw"),
                                  (["plan", *small, "--for", "megatorn"], 2, "did you mean megatron"), (["export", plan, "--to", "acelerate", "-o", "x"], 2, "did you mean accelerate"),
                                  (["plan", *small, "--software", "megatron-cor"], 30, "did you mean megatron-core"),
                                  (["plan", *program.SMALL[:2], "--cluster", "h100", *program.SMALL[4:], "-o", "/nowhere.json"], 30, "did you mean h100-80gb-sxm")):
            with self.subTest(near):
                self.assertRegex(self.run_program(*words, expect=code).stderr, near)

    def test_ranges_and_numbers_are_readable(self):
        small = [*program.SMALL, "-o", self.folder / "plan.json"]
        for more, words in ((["--top", 0], "'0' is no whole number of at least 1"), (["--seed", -1], "'-1' is no whole number of at least 0"),
                            (["--vocabulary-multiple", 10**12], "'1000000000000' is above 1,000,000")):
            self.assertIn(words, self.run_program("plan", *small, *more, expect=2).stderr)
        for wrong, code, words in (("inf", 2, "'inf' is no number from 0 to 1000000"), ("nan", 2, "'nan' is no number from 0 to 1000000"), ("0", 30, "which is no number above 0 and up to 1e6"),
                                   ("-1", 2, "'-1' is no number from 0 to 1000000")):
            self.assertIn(words, self.run_program("plan", *small, "--learning-rate", wrong, expect=code).stderr)
        self.run_program("plan", *small)
        self.assertIn('"minimum_learning_rate": 3e-05', (self.folder / "plan.json").read_text())

    def test_refusals_that_differ_in_numbers_are_one_line(self):
        done = self.run_program("plan", "--model", program.MODEL, "--cluster", "h100-80gb-sxm", "--devices", 64, "--global-batch", 64, "--sequence", 128, "--why", "-o", self.folder / "plan.json")
        self.assertRegex(done.stdout, r"and \d+ more")


class PlanFile(refusal.RefusalTest):
    def plan(self, change, *parts):
        path = self.make_plan()
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
        self.refused(["simulate", path], "plan.json", *parts)

    def test_degrees_that_do_not_multiply_to_the_ranks(self):
        self.plan(lambda plan: plan["mesh"].update(data=3), "mesh", "3", "4")

    def test_unknown_values(self):
        self.plan(lambda plan: plan.update(schedule="zigzag"), "/schedule", "zigzag", "1f1b")
        self.plan(lambda plan: plan.update(recompute="sometimes"), "/recompute", "full")
        self.plan(lambda plan: plan.update(zero_stage=4), "/zero_stage")
        self.plan(lambda plan: plan.update(format="meshwright.plan/9"), "/format")

    def test_fields_that_nobody_reads(self):
        self.plan(lambda plan: plan.update(zero_stge=1), "/zero_stge", "did you mean zero_stage")
        self.plan(lambda plan: plan["mesh"].update(tensr=1), "/mesh/tensr", "did you mean tensor")
        self.plan(lambda plan: plan["cluster"].update(device=1), "/device", "did you mean devices")
        self.plan(lambda plan: plan["cluster"]["hardware"].update(memry="1 GiB"), "/memry", "did you mean memory")

    def test_a_key_that_stands_twice(self):
        path = self.make_plan()
        path.write_text(path.read_text().replace('"zero_stage"', '"zero_stage": 3, "zero_stage"', 1))
        self.refused(["simulate", path], "plan.json", "zero_stage.* twice")

    def test_a_step_longer_than_the_clock(self):
        path = self.make_plan()
        content = json.loads(path.read_text())
        content["cluster"]["hardware"]["kernel_overhead"] = "1e30 s"
        path.write_text(json.dumps(content))
        self.refused(["simulate", path], "106 days", "hardware profile")

    def test_microbatches_that_do_not_divide_the_batch(self):
        self.plan(lambda plan: plan.update(microbatch_size=5), "microbatch")

    def test_missing_field(self):
        self.plan(lambda plan: plan.pop("mesh"), "/mesh")

    def test_truncated(self):
        path = self.make_plan()
        path.write_text(path.read_text()[:200])
        self.refused(["simulate", path], "not JSON")

    def test_other_kind_of_file(self):
        self.refused(["simulate", program.MODEL], "format")

    def test_a_link_to_itself(self):
        loop = self.folder / "loop"
        os.symlink(loop, loop)
        for command in (["check", loop], ["export", loop, "--to", "megatron", "-o", self.folder / "out"], ["diff", loop, loop]):
            self.refused(command, "loop", "symbolic links")

    def test_a_byte_order_mark_is_no_part_of_it(self):
        path = self.make_plan()
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        for command in ("simulate", "check"):
            self.run_program(command, path)


class Output(refusal.RefusalTest):
    def test_full_disk(self):
        text = self.write("text.txt", "some text")
        self.refused(["tokenize", text, "-o", "/dev/full"], "/dev/full", "No space left")
        self.refused(["plan", *program.SMALL, "-o", "/dev/full"], "/dev/full", "No space left")

    def test_an_older_file_survives(self):
        text, output = self.write("text.txt", "x" * 4096), self.write("out.bin", "p\0r\0e\0")
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        if os.geteuid() != 0:
            self.refused(["tokenize", text, "-o", output], "out.bin")
        self.refused(["tokenize", self.folder / "none.txt", "-o", output], "none.txt")
        self.assertEqual(output.read_text(), "p\0r\0e\0")

    def test_missing_folder(self):
        self.refused(["tokenize", program.MODEL, "-o", self.folder / "no" / "such" / "x.bin"], "No such file", "folder")

    def test_empty_text(self):
        self.refused(["tokenize", self.write("empty.txt", ""), "-o", self.folder / "x.bin"], "empty.txt", "is empty")


class RunFolder(refusal.RefusalTest):
    def test_not_a_run(self):
        self.refused(["compare", self.folder], "plan.json")

    def test_truncated_trace(self):
        self.make_plan()
        self.write("trace.0.json", '{"traceEvents": [')
        self.refused(["compare", self.folder], "trace")
        self.refused(["calibrate", self.folder, "--cluster", "h100-80gb-sxm", "-o", self.folder / "x.json"], "trace")


if __name__ == "__main__":
    program.main()
