"""No kernel that a training runs spills registers: read from the machine code of build/cuda_check (architecture_cuda_preset_test); skipped aloud without it."""
import sys
import unittest

import registers
from report import ROOT

LIBRARY = ROOT / "build/cuda_check/executor/kernels/libexecutor_cuda_kernels.a"


def kernel(arguments, stack):
    return ("norm_backward", arguments, 128, stack, 0)


class Registers(unittest.TestCase):
    def test_a_spill_is_told(self):
        self.assertEqual(registers.spills([kernel("<RowLayout<4, true>, float>", 8)]), ["norm_backward<RowLayout<4, true>, float>: 8 bytes"])
        self.assertEqual(registers.spills([kernel("<RowLayout<4, true>, float>", 0)]), [])

    def test_what_only_tests_run_may_spill(self):
        self.assertEqual(registers.spills([kernel("<RowLayout<4, true>, double>", 8), kernel("<RowLayout<4, false>, float>", 8)]), [])

    def test_warps_are_what_registers_leave(self):
        self.assertEqual([registers.warps(count) for count in (32, 40, 64, 128)], [64, 51, 32, 16])

    def test_nothing_spills(self):
        if registers.cuobjdump() is None or not LIBRARY.exists():
            self.skipTest(f"needs cuobjdump and {LIBRARY}")
        found = list(registers.kernels(LIBRARY))
        self.assertGreater(len(found), 50)
        self.assertEqual(registers.spills(found), [])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
