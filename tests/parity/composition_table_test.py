"""The table says which test proves what another leaves out, and of no mesh more than its job found."""
import json
import pathlib
import sys
import tempfile
import unittest

import composition_table as of

AGREES = "ItsModelAgreesWithOneProcess"


def report(*tests):
    return {"testsuites": [{"name": "All/Compositions", "testsuite": [{"name": f"{test}/{composition}", "result": result} | more for test, composition, result, more in tests]}]}


FAILURE = {"failures": [{"failure": "far"}]}
TWO_RANKS = report((AGREES, "D2_bf16", "COMPLETED", {}), (AGREES, "D2_wire_int8", "SKIPPED", {"proven_by": "wire_test"}), ("LlamaAgreesWithOneProcess", "D2_bf16", "SKIPPED", {}),
                   ("ZeroStagesAreBitwiseEqual", "D2_bf16", "COMPLETED", FAILURE), (AGREES, "D4", "SKIPPED", {}))


class CompositionTable(unittest.TestCase):
    def test_what_another_test_proves_is_named(self):
        self.assertEqual(of.verdict(of.results_of(TWO_RANKS), ["D2_bf16", "D2_wire_int8"], (AGREES, "LlamaAgreesWithOneProcess")), "yes; wire_test: wire int8")

    def test_a_failure_is_named(self):
        self.assertEqual(of.verdict(of.results_of(TWO_RANKS), ["D2_bf16", "D2_wire_int8"], ("ZeroStagesAreBitwiseEqual",)), "no: bf16")

    def test_jobs_of_other_ranks_say_nothing(self):
        self.assertEqual(of.verdict(of.results_of(TWO_RANKS), ["D4"], (AGREES,)), "-")

    def test_reports_of_all_jobs_make_the_table(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "parity_2.json").write_text(json.dumps(TWO_RANKS))
            pathlib.Path(folder, "parity_4.json").write_text(json.dumps(report((AGREES, "D4", "COMPLETED", {}))))
            found = of.results(pathlib.Path(folder))
        names, first = ["D2_bf16", "D2_bf16_zero1", "D2_wire_int8", "D4"], "| D2 | bf16, wire int8 | yes; wire_test: wire int8 | no: bf16 |"
        for loop, cells in (({"D2_bf16": [], "D2_bf16_zero1": ["ledger"], "D4": []}, ("no: bf16 zero1", "yes")), ({"D2_wire_int8": []}, ("yes", "-"))):   # a turn performs some
            self.assertEqual(of.table(names, loop, found).splitlines()[2:], [f"{first} {cells[0]} |", f"| D4 | plain | yes | - | {cells[1]} |"])

    def test_a_turn_may_have_less(self):
        def row(cell):
            return f"| D2 | a, b, c | {cell} |"
        standing = row("yes; muon_test: a; wire_test: b, c")
        for cell, is_held in (("yes; muon_test: a; wire_test: b, c", True), ("-", True), ("yes; wire_test: c", True), ("yes", True), ("yes; wire_test: a", False), ("no: b", False)):
            self.assertEqual(of.holds(standing, row(cell)), is_held, cell)
        self.assertFalse(of.holds(standing, standing.replace("a, b", "b")))
        self.assertFalse(of.holds(standing, f"{standing}\n{standing}"))
        self.assertFalse(of.holds(row("-"), row("yes")))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
