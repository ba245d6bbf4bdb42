"""Manual page and completions say what --help says."""
import re
import subprocess

import program


class Describe(program.ProgramTest):
    def described(self, kind):
        return self.run_program("--describe", kind).stdout

    def options(self, command):
        return sorted(set(re.findall(r"(?<=[\s,])--[a-z][\w-]+", self.run_program(command, "--help").stdout.split("Example:")[0])))

    def test_the_manual_page_names_every_option(self):
        page = self.described("man").replace("\\-", "-")
        for command in ("plan", "simulate", "run", "validate"):
            for option in self.options(command):
                self.assertIn(f".B {option}", page)

    def test_every_shell_knows_commands_and_options(self):
        for shell, form in (("bash", "{}"), ("zsh", "{}["), ("fish", "-l {}")):
            text = self.described(shell)
            for option in self.options("plan"):
                self.assertIn(form.format(option.removeprefix("--") if shell == "fish" else option), text, shell)

    def test_bash_completes(self):
        script = self.write("completion", self.described("bash"))
        ask = 'source "$1"; COMP_WORDS=(meshwright $2 $3); COMP_CWORD=$4; _meshwright; echo "${COMPREPLY[@]}"'
        complete = lambda *words: subprocess.run(["bash", "-c", ask, "bash", script, *words], text=True, capture_output=True, check=True).stdout.split()
        self.assertEqual(complete("sim", "", "1"), ["simulate"])
        self.assertIn("--global-batch", complete("plan", "--g", "2"))

    def test_anything_else_is_an_error_of_use(self):
        self.run_program("--describe", "powershell", expect=2)


if __name__ == "__main__":
    program.main()
