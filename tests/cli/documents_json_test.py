"""--json: one document on stdout, with the units in the names of the keys."""
import program


class Documents(program.ProgramTest):
    def test_plan(self):
        document = self.document("plan", *program.SMALL, "-o", self.folder / "plan.json")
        self.assertEqual(document["plan_file"], str(self.folder / "plan.json"))
        best = document["ranked"][0]
        self.assertEqual(best["plan"]["speed_of"]["program"], "meshwright")
        self.assertEqual(best["plan"]["data"] * best["plan"]["tensor"] * best["plan"]["pipeline"], 4)
        self.assertGreater(best["result"]["step_time_seconds"], 0)
        self.assertEqual(best["why_not_best"], "")
        self.assertGreaterEqual(document["candidates"], document["simulated"])

    def test_simulate(self):
        document = self.document("simulate", self.make_plan())
        result = document["result"]
        self.assertGreater(result["tokens_per_second"], 0)
        device = result["devices"][0]
        self.assertEqual(sum(device["memory_at_peak_bytes"].values()), device["peak_memory_bytes"])

    def test_tokenize(self):
        text = self.write("text.txt", "twelve bytes")
        document = self.document("tokenize", text, "-o", self.folder / "tokens.bin")
        self.assertEqual((document["tokens"], document["vocabulary"], document["type"]), (12, 256, "uint16"))


if __name__ == "__main__":
    program.main()
