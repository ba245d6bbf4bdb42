"""Making tokens of a long text says how far it is, as all long work does: the desktop program shows it and how long it still takes."""
import json
import re
import unittest

import program


def byte_letters():
    """The letters that byte-level tokenizers write for the 256 bytes."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte) for byte in plain} | {chr(256 + at) for at in range(len(others))}


TOKENIZER = {"version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None, "decoder": None,
             "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
             "model": {"type": "BPE", "vocab": {letter: at for at, letter in enumerate(sorted(byte_letters()))}, "merges": []}}


class TokenizeTest(program.ProgramTest):
    def test_a_long_text_says_how_far_it_is(self):
        tokenizer = self.write("tokenizer.json", json.dumps(TOKENIZER))
        for megabytes in (16, 64, 256):  # however fast the machine is: the first two seconds are silent
            text = self.write("long.txt", b"a few words of some length, line by line\n" * (megabytes * 25000))
            said = self.run_program("tokenize", text, "--tokenizer", tokenizer, "-o", self.folder / f"{megabytes}.bin").stderr
            if lines := re.findall(r"tokenize: byte (\d+) of (\d+) \((\d+) %\)", said):
                break
        self.assertTrue(lines, said)
        self.assertEqual({int(of) for _, of, _ in lines}, {text.stat().st_size})
        done = [int(at) for at, _, _ in lines]
        self.assertEqual(done, sorted(done))
        self.assertGreater(done[-1], 0)
        self.assertEqual((self.folder / f"{megabytes}.bin").stat().st_size, 2 * text.stat().st_size)


if __name__ == "__main__":
    unittest.main()
