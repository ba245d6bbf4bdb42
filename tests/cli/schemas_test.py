"""Every document and file that a subcommand writes is as its schema says, and the judge can refuse."""
import copy
import json
import sys

import program
import schemas


class Schemas(program.ProgramTest):
    def plan_of_trace(self):
        return self.make_plan(name="traced.json", model=program.ROOT / "profiles/models/tiny-gpt2.json")

    def test_every_subcommand_without_a_run(self):
        plan = self.make_plan()
        text = self.write("text.txt", "some text")
        rows = self.write("rows.json", json.dumps(json.loads((program.ROOT / "profiles/published/rows.json").read_text())[:3]))
        commands = {
            "search": ["plan", *program.SMALL, "--all"],
            "simulation": ["simulate", plan, "--steps", 1000, "--mtbf", "1 y", "--slow-rank", "1=1.5"],
            "check": ["check", plan, "--budget", "1s", "--against", plan],
            "difference": ["diff", plan, plan],
            "trace_comparison": ["compare", self.plan_of_trace(), program.ROOT / "tests/gui/import/gpt2_on_cpu.json.gz"],
            "comparison": ["compare", program.ROOT / "tests/cli/written_before/run"],
            "tokens": ["tokenize", text, "-o", self.folder / "tokens.bin"],
            "recipe": ["export", self.make_plan("--for", "megatron", name="theirs.json", model=program.ROOT / "profiles/models/gpt2.json"), "--to", "megatron", "-o", self.folder / "recipe"],
            "import": ["import", self.folder / "recipe/pretrain.sh", "--model", program.ROOT / "profiles/models/gpt2.json", "--cluster", "h100-80gb-sxm", "--devices", 4, "-o", self.folder / "back.json"],
            "score": ["validate", rows]}
        for kind, command in commands.items():
            with self.subTest(kind):
                self.assertEqual(self.document(*command)["format"], f"meshwright.{kind}/1")   # document() judges it
        self.assertEqual(self.document("simulate", "nowhere.json", expect=30)["format"], "meshwright.error/1")

    def test_profiles_are_as_their_schemas_say(self):
        for path in sorted((program.ROOT / "profiles").glob("*/*.json")):
            if path.parent.name in ("hardware", "clusters"):
                self.assertEqual(schemas.faults(json.loads(path.read_text())), [], path)

    def test_the_judge_refuses(self):
        document = self.document("simulate", self.make_plan())
        for change in (lambda it: it["result"].pop("mfu_ratio"), lambda it: it["result"].update(new=1), lambda it: it["result"].update(tasks="many")):
            broken = copy.deepcopy(document)
            change(broken)
            self.assertTrue(schemas.faults(broken))
        self.assertEqual(schemas.faults({"format": "meshwright.unheard_of/1"}), ["meshwright.unheard_of/1 has no schema"])


if __name__ == "__main__":
    if not schemas.judges():
        print("skipped: the package python3-jsonschema is not here")
        sys.exit(77)
    program.main()
