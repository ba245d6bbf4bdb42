"""`estimate`: experts, long contexts, fp8; what does not fit; what is wrong."""
import json

import program

MIXTRAL = {"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000}


class Estimate(program.ProgramTest):
    def question(self, config=MIXTRAL, devices=64):
        return ["estimate", "--model", self.write("config.json", json.dumps(config)), "--cluster", "h100-80gb-sxm", "--devices", devices,
                "--global-batch", 2 * devices, "--sequence", 4096]

    def test_ranks_layouts_of_experts(self):
        text = self.run_program(*self.question()).stdout
        self.assertIn("80 % interval", text)
        self.assertIn("layouts:", text)

    def test_the_document_holds_the_same(self):
        first, second = self.document(*self.question(), "--top", 2)["ranked"]
        self.assertLessEqual(first["step_time_seconds"], second["step_time_seconds"])
        self.assertLess(first["step_time_low_seconds"], first["step_time_seconds"])
        self.assertAlmostEqual(sum(first["parts_seconds"].values()), first["step_time_seconds"], places=9)

    def test_what_does_not_fit_says_how_much(self):
        self.assertIn("None fits: the smallest takes", self.run_program(*self.question({**MIXTRAL, "num_local_experts": 512}, 8), expect=10).stdout)

    def test_faults_are_named(self):
        for config, more, said in ((MIXTRAL, ("--precision", "int4"), "accepted: fp32"), ({"model_type": "rnn"}, (), "/model_type"),
                                   (MIXTRAL, ("--software", "nothing"), "nothing")):
            self.assertIn(said, self.run_program(*self.question(config), *more, expect=30).stderr)


if __name__ == "__main__":
    program.main()
