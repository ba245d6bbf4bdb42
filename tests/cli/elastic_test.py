"""`plan --elastic`: a folder of plans for shrinking numbers of nodes, any of which takes over the training of any other."""
import json
import pathlib

import program

NODES = {**program.MACHINE, "devices_per_node": 1, "inter_node": {"type": "ethernet", "latency": "20 us", "bandwidth": "1 GB/s"}}


class Elastic(program.ProgramTest):
    def plans(self, *more, elastic="4..1", expect=0, json_too=True):
        machine = self.write("machine.json", json.dumps(NODES))
        words = ["plan", "--model", program.MODEL, "--cluster", machine, "--devices", "4", "--global-batch", "16", "--sequence", "128", "--precision", "fp32", "--elastic", elastic,
                 "-o", self.folder / "elastic", *more]
        return self.document(*words) if json_too else self.run_program(*words, expect=expect)

    def test_a_plan_for_each_number_of_nodes(self):
        document = self.plans("--runnable", "--learning-rate", "1e-3", "--seed", "7")
        self.assertEqual([one["nodes"] for one in document["plans"]], [4, 3, 2, 1])
        files = [json.loads(pathlib.Path(one["plan_file"]).read_text()) for one in document["plans"] if one["plan_file"]]
        self.assertGreaterEqual(len(files), 3)
        for one in document["plans"]:
            if one["best"]:
                plan = one["best"]["plan"]
                self.assertEqual(plan["data"] * plan["tensor"] * plan["pipeline"] * plan["context"], one["nodes"])
        for plan in files:
            for key in ("model", "workload", "training"):
                self.assertEqual(plan[key], files[0][key])

    def test_run_takes_them_as_fallbacks(self):
        if not program.WORKER.exists():
            self.skipTest("this build has no worker")
        document = self.plans("--runnable")
        first, *others = [one["plan_file"] for one in document["plans"] if one["plan_file"]]
        tokens = self.folder / "tokens.bin"
        self.run_program("tokenize", self.write("text.txt", "some text " * 4000), "-o", tokens)
        run = ["run", first, "--data", tokens, "--steps", 2, "--max-restarts", 1, "--dry-run", "-o", self.folder / "run"]
        for other in others:
            self.run_program(*run, "--fallback", other)
        another = self.folder / "another.json"
        self.run_program("plan", "--model", program.MODEL, "--cluster", self.folder / "machine.json", "--devices", "1", "--global-batch", "32", "--sequence", "128",
                         "--precision", "fp32", "--runnable", "-o", another)
        self.assertIn("global_batch", self.run_program(*run, "--fallback", another, expect=30).stderr)

    def test_on_a_screen(self):
        text = self.plans(json_too=False).stdout
        self.assertRegex(text, r"(?m)^ *4 .*nodes_4.json")
        self.assertIn("on 4 nodes: data", text)
        self.assertNotIn("on 1 nodes", text)
        self.assertNotIn("\n\n\n", text)
        self.assertIn("--fallback", text)

    def test_a_budget_is_shared_by_all_numbers(self):
        document = self.plans("--budget", "0.01s", "--gap", "0 %")
        self.assertEqual([one["nodes"] for one in document["plans"]], [4, 3, 2, 1])
        self.assertTrue(document["plans"][-1]["best"])

    def test_what_cannot_be_asked_is_said(self):
        self.assertIn("the cluster has 4", self.plans(elastic="8..2", expect=30, json_too=False).stderr)
        self.assertIn("is no range of nodes", self.plans(elastic="2..4", expect=30, json_too=False).stderr)


if __name__ == "__main__":
    program.main()
