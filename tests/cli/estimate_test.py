"""`estimate`, a command of before: it names the call of `plan` that answers instead, and that call is taken."""
import program


class Estimate(program.ProgramTest):
    def test_names_a_call_that_is_taken(self):
        question = ["--model", "profiles/models/gpt2.json", "--cluster", "h100-80gb-sxm", "--devices", 2, "--global-batch", 8, "--sequence", 1024]
        said = self.run_program("estimate", *question, "--precision", "bf16", "--top", 2, expect=2).stderr
        call = said.splitlines()[-1].split()
        self.assertEqual(call[:2], ["meshwright", "plan"])
        self.assertIn("--software megatron-core", said)
        self.run_program(*call[1:-1], self.folder / "plan.json")


if __name__ == "__main__":
    program.main()
