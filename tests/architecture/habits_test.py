"""What a software profile says is obeyed: each of its fields is read by more than the code that reads and writes profiles."""
import re
import unittest

import house

PROFILE = "sim/cluster/software_stack_json.cpp"


def fields(text):
    return set(re.findall(r'\bfield\("\w+", \w+\.(\w+)', text))


def unread(names, texts):
    return sorted(names - {name for text in texts for name in re.findall(r"(?:\.|->|::)(\w+)\b", text)})


class Habits(unittest.TestCase):
    def test_each_is_read(self):
        names = fields(house.text(PROFILE))
        self.assertGreater(len(names), 60)
        self.assertEqual(unread(names, (house.code(house.text(path)) for path in house.sources() if path.as_posix() != PROFILE)), [], "nothing obeys these")


class TheTestCanFail(unittest.TestCase):
    def test_finds_one_that_nothing_reads(self):
        self.assertEqual(unread(fields('field("a", stack.a); field("b", stack.b, {0, 3});'), ["x.a + y->c"]), ["b"])


if __name__ == "__main__":
    unittest.main()
