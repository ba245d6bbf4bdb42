"""`tokenize --tokenizer` makes the tokens that PyPI's `tokenizers` makes: of models trained here, behind the steps that published files have."""
import array
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import program  # noqa: E402

try:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError as error:
    print(f"SKIPPED: {error}; tokens are not compared with PyPI's tokenizers")
    sys.exit(77)

TEXTS = [str(path) for path in sorted(ROOT.glob("docs/decisions/*.md"))[:20]] + [str(ROOT / "README.md"), str(ROOT / "sim/tokenizer/text_splitter.cpp")]
HARD = """I'll say: DON'T we've they're 'tis   three   spaces\ttab\r\nCRLF\n\n\nlines \u00a0nbsp\u2003em \u0085next\x0bVT
\u00e9 e\u0301 \u00c5ngstr\u00f6m \ufb01ne \u2460 \u00bd \u0663\u0664 123456 3.14159e-05 \u4f60\u597d\uff0c\u4e16\u754c \u3053\u3093 \u0439\u0446\u0443 \u05e9\u05dc\u05d5\u05dd \u0627\u0644 \u0e44\u0e17\u0e22
\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2581real\u2581 <|endoftext|> <mask>  x\u0130I\u03a3 a_b-c--d \u201cq\u201d \u2026 ~`!@#$%^&*()[]{}\\|;:"<>,./? \x00\x01 end """
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")


def byte_pairs(pre_tokenizer, normalizer=None, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer, tokenizer.normalizer = pre_tokenizer, normalizer
    special = ["<unk>"] * ("unk_token" in model)
    if model.get("byte_fallback"):
        special += [f"<0x{byte:02X}>" for byte in range(256)]
    alphabet = pre_tokenizers.ByteLevel.alphabet() if not special else []
    tokenizer.train(TEXTS, trainers.BpeTrainer(vocab_size=1500, special_tokens=special, initial_alphabet=alphabet, show_progress=False))
    return tokenizer


def unigram(pre_tokenizer, normalizer=None):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer, tokenizer.normalizer = pre_tokenizer, normalizer
    tokenizer.train(TEXTS, trainers.UnigramTrainer(vocab_size=900, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
    return tokenizer


def with_added(tokenizer):
    tokenizer.add_special_tokens(["<|endoftext|>", AddedToken("<mask>", lstrip=True, rstrip=True, normalized=True)])
    return tokenizer


def sequence(*steps):
    return pre_tokenizers.Sequence(list(steps))


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
PLAIN_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
CASES = {
    "GPT-2": lambda: with_added(byte_pairs(BYTES)),
    "RoBERTa": lambda: byte_pairs(pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "Llama 3": lambda: with_added(byte_pairs(sequence(pre_tokenizers.Split(Regex(LLAMA3), "isolated"), PLAIN_BYTES), ignore_merges=True)),
    "Qwen 2": lambda: byte_pairs(sequence(pre_tokenizers.Split(Regex(QWEN2), "isolated"), PLAIN_BYTES), normalizers.NFC()),
    "StarCoder": lambda: byte_pairs(sequence(pre_tokenizers.Digits(individual_digits=True), BYTES)),
    "Falcon": lambda: byte_pairs(sequence(pre_tokenizers.Punctuation("contiguous"), BYTES, pre_tokenizers.Digits(individual_digits=False),
                                          pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"))),
    "Llama 2": lambda: byte_pairs(None, normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]),
                                  unk_token="<unk>", fuse_unk=True, byte_fallback=True),
    "Gemma": lambda: byte_pairs(pre_tokenizers.Split(" ", "merged_with_previous"), normalizers.Replace(" ", "\u2581"), unk_token="<unk>", fuse_unk=True),
    "words": lambda: byte_pairs(pre_tokenizers.Whitespace(), normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.Strip()]), unk_token="<unk>"),
    "between spaces": lambda: byte_pairs(pre_tokenizers.WhitespaceSplit(), normalizers.Replace(Regex(" {2,}"), "\u2581"), unk_token="<unk>"),
    "unigram": lambda: with_added(unigram(pre_tokenizers.Metaspace(), normalizers.NFKC())),
    "unigram, first": lambda: with_added(unigram(pre_tokenizers.Metaspace(prepend_scheme="first"), normalizers.NFKD())),
    "unigram of bytes": lambda: unigram(BYTES),
    "unigram of words": lambda: unigram(sequence(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="never"))),
}


class TokenizerTest(program.ProgramTest):
    def tokens(self, tokenizer_file, text):
        source, output = self.write("text.txt", text.encode()), self.folder / "tokens.bin"
        output.unlink(missing_ok=True)  # tokens of 16 bits have no mark: they are never written over
        self.run_program("tokenize", source, "--tokenizer", tokenizer_file, "-o", output)
        return list(array.array("H", output.read_bytes()))

    def compare(self, tokenizer, text):
        path = self.folder / "tokenizer.json"
        tokenizer.save(str(path))
        self.assertEqual(self.tokens(path, text), tokenizer.encode(text, add_special_tokens=False).ids)

    def test_trained_models(self):
        texts = [pathlib.Path(path).read_text() for path in TEXTS]
        for name, make in CASES.items():
            with self.subTest(name):
                self.compare(make(), HARD + "".join(texts))

    def test_a_large_vocabulary_is_written_in_32_bits(self):
        tokenizer = byte_pairs(BYTES)
        tokenizer.add_special_tokens(["<|endoftext|>"])
        content = json.loads(tokenizer.to_str())
        content["added_tokens"][0]["id"] = 70000
        path = self.write("tokenizer.json", json.dumps(content))
        source, output = self.write("text.txt", "a<|endoftext|>b"), self.folder / "tokens.bin"
        document = self.document("tokenize", source, "--tokenizer", path, "-o", output)
        self.assertEqual((document["vocabulary"], document["type"], document["tokens"]), (70001, "uint32", 3))
        self.assertEqual(output.read_bytes()[:8], b"meshtok1")
        self.assertEqual(list(array.array("I", output.read_bytes()[16:]))[1], 70000)

    def test_the_comparison_sees_another_merge(self):
        tokenizer = byte_pairs(BYTES)
        content = json.loads(tokenizer.to_str())
        content["model"]["merges"].reverse()
        path = self.write("tokenizer.json", json.dumps(content))
        text = pathlib.Path(TEXTS[-1]).read_text()
        self.assertNotEqual(self.tokens(path, text), tokenizer.encode(text, add_special_tokens=False).ids)

    def test_text_must_be_utf_8(self):
        path = self.folder / "tokenizer.json"
        byte_pairs(BYTES).save(str(path))
        refused = self.run_program("tokenize", self.write("text.txt", b"\xff\xfe"), "--tokenizer", path, "-o", self.folder / "x", expect=30)
        self.assertIn("is no UTF-8", refused.stderr)


if __name__ == "__main__":
    program.main()
