"""A run folder that an earlier version wrote still compares: its plan reads, its hash is the traces', and every task has its partner."""
import json
import pathlib

import program

RUN = pathlib.Path(__file__).resolve().parent / "written_before/run"


class CompareBefore(program.ProgramTest):
    def test_every_task_has_its_partner(self):
        document = self.document("compare", RUN)
        self.assertTrue(document["ledger_equal"], document["ledger_difference"])
        self.assertEqual((document["only_simulated"], document["only_measured"]), ([], []))
        self.assertGreater(document["step"]["measured_seconds"], 0)

    def test_the_hash_is_what_it_was(self):
        hash_then = json.loads((RUN / "trace.0.json").read_text())["meshwright"]["plan_hash"]
        written = self.folder / "again.json"
        self.run_program("simulate", RUN / "plan.json", "--write-plan", written)
        self.assertEqual(json.loads(written.read_text())["predictions"]["made_from"], hash_then)


if __name__ == "__main__":
    program.main()
