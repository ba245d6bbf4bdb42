"""Exit codes and where words go, of the whole program."""
import os
import subprocess

import program


class Application(program.ProgramTest):
    def test_help_of_all_and_of_each(self):
        text = self.run_program("--help").stdout
        for name in ("measure", "plan", "simulate", "tokenize", "run", "compare", "calibrate"):
            self.assertIn(name, text)
            self.assertIn(f"meshwright {name}", self.run_program(name, "--help").stdout)
        self.assertIn("10 no feasible plan", text)

    def test_version(self):
        self.assertRegex(self.run_program("--version").stdout, r"^meshwright \d+\.\d+(, commit \w+(-dirty)?)? \(planner[\w, ]*; (GNU|Clang) [\d.]+, \w+\)$")

    def test_usage_errors(self):
        for arguments in ([], ["no-such"], ["plan"], ["plan", "--no-such-option"], ["simulate"]):
            done = self.run_program(*arguments, expect=2)
            self.assertEqual(done.stdout, "")
            self.assertNotEqual(done.stderr, "")

    def test_input_error_names_file_and_remedy(self):
        done = self.run_program("simulate", "no-such-plan.json", expect=30)
        self.assertIn("no-such-plan.json", done.stderr)
        self.assertIn("remedy:", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_input_error_as_json(self):
        document = self.document("simulate", "no-such-plan.json", expect=30)
        self.assertEqual(document["error"]["exit_code"], 30)
        self.assertTrue(document["error"]["violations"][0]["problem"])

    def test_a_name_that_is_no_text_is_an_input_error_all_the_same(self):
        document = self.document("simulate", os.fsdecode(b"\xff.json"), expect=30, errors="replace")
        self.assertEqual(document["error"]["file"], "\ufffd.json")

    def test_a_result_that_cannot_be_written_is_no_success(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(program.words(["simulate", self.make_plan()]), cwd=program.ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 30)
        self.assertIn("No space left", done.stderr)

    def test_help_that_cannot_be_written_is_no_success(self):
        with open("/dev/full", "w") as full:
            for arguments in (["--help"], ["--version"], ["plan", "--help"]):
                self.assertEqual(subprocess.run(program.words(arguments), cwd=program.ROOT, stdout=full).returncode, 30)

    def test_what_a_file_says_moves_no_terminal(self):
        order = self.write("order.csv", "\033[2J\033[31mgone" + 1000 * "\a")
        said = self.run_program("simulate", self.make_plan(), "--order", order, expect=30).stderr
        self.assertIn("is no action", said)
        self.assertNotRegex(said, "[\033\a]")
        self.assertLess(len(said), 400)

    def test_no_escape_codes_without_terminal(self):
        text = self.run_program("plan", *program.SMALL, "-o", self.folder / "plan.json").stdout
        self.assertNotIn("\033", text)


if __name__ == "__main__":
    program.main()
