"""`export`: a run's newest checkpoint as Hugging Face names it, and training that begins with those weights."""
import json

import program


class Export(program.ProgramTest):
    def test_weights_leave_and_come_back(self):
        profile = self.write("machine.json", json.dumps(program.MACHINE))
        plan, tokens, run = self.folder / "plan.json", self.folder / "tokens.bin", self.folder / "run"
        self.run_program("plan", "--model", program.MODEL, "--cluster", profile, "--devices", 1, "--global-batch", 2, "--sequence", "32", "-o", plan)
        self.run_program("tokenize", program.ROOT / "LICENSE", "-o", tokens)
        self.run_program("run", plan, "--data", tokens, "--steps", 1, "-o", run)
        self.run_program("export", run, "-o", self.folder / "model")
        self.assertIn("n_layer", json.loads((self.folder / "model/config.json").read_text()))
        again = self.document("run", plan, "--data", tokens, "--steps", 1, "-o", self.folder / "again", "--weights", self.folder / "model")
        first = json.loads((run / "metrics.ndjson").read_text().splitlines()[0])["loss"]
        self.assertLess(again["steps"][0]["loss"], first)
        self.assertEqual(self.document("export", self.folder, "-o", self.folder / "x", expect=30)["error"]["exit_code"], 30)
        self.assertIn("holds no complete checkpoint", self.run_program("export", self.folder, "-o", self.folder / "x", expect=30).stderr)

    def test_adapters_leave_and_come_back(self):
        profile = self.write("machine.json", json.dumps(program.MACHINE))
        whole, plan, tokens = self.folder / "whole.json", self.folder / "plan.json", self.folder / "tokens.bin"
        question = ("--model", program.MODEL, "--cluster", profile, "--devices", 1, "--global-batch", 2, "--sequence", "32")
        self.run_program("plan", *question, "-o", whole)
        self.run_program("plan", *question, "--adapters", "rank 2 alpha 4 on qkv", "-o", plan)
        self.run_program("tokenize", program.ROOT / "LICENSE", "-o", tokens)
        self.run_program("run", whole, "--data", tokens, "--steps", 1, "-o", self.folder / "base")
        self.run_program("export", self.folder / "base", "-o", self.folder / "model")
        self.run_program("run", plan, "--data", tokens, "--steps", 2, "-o", self.folder / "run", "--weights", self.folder / "model")
        files = self.document("export", self.folder / "run", "-o", self.folder / "adapters")
        self.assertTrue(files["weights"].endswith("adapters/adapter_model.safetensors"))
        config = json.loads((self.folder / "adapters/adapter_config.json").read_text())
        self.assertEqual((config["r"], config["lora_alpha"], config["target_modules"]), (2, 4, ["c_attn"]))
        again = self.document("run", plan, "--data", tokens, "--steps", 1, "-o", self.folder / "again", "--weights", self.folder / "adapters")
        first = json.loads((self.folder / "run/metrics.ndjson").read_text().splitlines()[0])["loss"]
        self.assertLess(again["steps"][0]["loss"], first)


if __name__ == "__main__":
    program.main(needs_worker=True)
