"""Sixteen commits see every file once, and what changed is seen each time."""
import re
import unittest

import house
import rotation


class Rotation(unittest.TestCase):
    def test_sixteen_turns_see_all_once(self):
        names = [str(path) for path in house.sources()]
        seen = [name for at in range(746, 746 + rotation.SHARES) for name in rotation.share(names, at)]
        self.assertEqual(sorted(seen), sorted(names))

    def test_each_build_has_a_turn_that_some_test_waits_for(self):
        seen = {rotation.build_of(at) for at in range(746, 746 + len(rotation.BUILDS))} - {""}
        waiting = {name for path in house.ROOT.glob("tests/*/*.py") for name in re.findall(r'leave_to_the_next\("(\w+)"', path.read_text())}
        sanitizers = set(re.findall(r"^(\w+)\(\) \{$", (house.ROOT / "tests/sanitized/sanitizers.sh").read_text(), re.M)) - {"build", "caught"}
        self.assertEqual(seen, waiting | sanitizers)

    def test_a_new_file_is_a_change(self):
        path = house.ROOT / "sim" / "new_file.tmp"
        path.write_text("")
        self.addCleanup(path.unlink)
        self.assertIn("sim/new_file.tmp", rotation.changed("sim"))
        self.assertNotIn("sim/new_file.tmp", rotation.changed("cli"))


if __name__ == "__main__":
    unittest.main()
