"""`simulate`: numbers, picture, Chrome trace, checkers."""
import importlib.util
import json
import pickle
import pickletools

import perfetto_file
import program


class Simulate(program.ProgramTest):
    def test_picture_and_checkers(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "schedule=1f1b")
        text = self.run_program("simulate", plan, "--text", "--check", "--columns", "60").stdout
        self.assertIn("bubble", text)
        self.assertIn("The checkers agree", text)
        self.assertRegex(text, r"(?m)^stage 1.*F.*B")

    def test_timeline_is_a_chrome_trace(self):
        trace = self.folder / "timeline.json"
        self.run_program("simulate", self.make_plan(), "--timeline", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        self.assertTrue(any(event["ph"] == "X" for event in events))

    def test_ledger_has_every_collective_with_its_bytes(self):
        ledger = self.folder / "ledger.csv"
        self.run_program("simulate", self.make_plan("--fix", "data=4", "--fix", "zero=3"), "--ledger", ledger)
        head, columns, *rows = ledger.read_text().splitlines()
        self.assertEqual((head, columns), ("# meshwright.ledger/1", "stage,rank,task,ranks,bytes"))
        gathers = [row.split(",") for row in rows if ".all_gather.data." in row]
        self.assertTrue(gathers)
        self.assertTrue(all(row[3] == "4" and int(row[4]) > 0 for row in gathers))
        self.run_program("simulate", self.make_plan("--fix", "data=4", "--fix", "zero=3"), "--ledger", ledger)  # over its own file

    def test_both_formats_of_a_timeline_say_the_same(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "data=2", "--fix", "microbatch=2")
        chrome, perfetto = self.folder / "t.json", self.folder / "t.perfetto-trace"
        for path in chrome, perfetto:
            self.run_program("simulate", plan, "--every-rank", "--timeline", path)
        events = json.loads(chrome.read_text())["traceEvents"]
        process = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        ticks = lambda event: round(event["ts"] * 1000)
        drawn = sorted((process[event["pid"]], event["args"]["key"], ticks(event), ticks(event) + round(event["dur"] * 1000)) for event in events if event.get("cat") == "kernel")
        read = perfetto_file.PerfettoFile(perfetto)
        self.assertGreater(len(drawn), 100)
        self.assertEqual(sorted((path[1], key, begin, end) for path, _, _, begin, end, key, _ in read.slices), drawn)
        self.assertEqual(len(read.flows), sum(event["ph"] == "s" for event in events))
        self.assertGreater(len(read.flows), 0)
        for path, _, _, _, _, key, correlation in read.slices:
            microbatch = key.split(".")[2]
            self.assertEqual(correlation, None if microbatch == "m-" else int(microbatch.removeprefix("m")) + 1, key)
        totals = sorted((process[event["pid"]], ticks(event), sum(event["args"].values())) for event in events if event["name"] == "memory")
        self.assertEqual(sorted((path[1], time, value) for path, counts in read.counters.items() if path[2:] == ("memory",) for time, value in counts), totals)
        self.assertTrue(any(path[-1] == "link load" for path in read.counters))

    def test_memory_goes_out_as_pytorch_writes_it(self):
        plan, path = self.make_plan("--fix", "pipeline=2", "--fix", "zero=2", "--fix", "microbatch=2"), self.folder / "memory.pickle"
        result = self.document("simulate", plan, "--memory-snapshot", path)["result"]
        snapshot = pickle.loads(path.read_bytes())
        self.assertLessEqual(max(code[1] or 0 for code in pickletools.genops(path.read_bytes()) if code[0].name == "PROTO"), 4)
        peaks = {device["first_rank"]: device["peak_memory_bytes"] for device in result["devices"]}
        self.assertEqual([rank for rank, events in enumerate(snapshot["device_traces"]) if events], sorted(peaks))
        for rank, peak in peaks.items():
            alive, most, last = {}, 0, 0
            for event in snapshot["device_traces"][rank]:
                self.assertGreaterEqual(event["time_us"], last)
                last = event["time_us"]
                if event["action"] == "alloc":
                    self.assertNotIn(event["addr"], alive)
                    alive[event["addr"]] = event["size"]
                    most = max(most, sum(alive.values()))
                elif event["action"] == "free_completed":
                    self.assertEqual(alive.pop(event["addr"]), event["size"])
            self.assertEqual(most, peak)
            self.assertEqual(alive, {segment["address"]: segment["total_size"] for segment in snapshot["segments"] if segment["device"] == rank})
        names = {frame["name"] for events in snapshot["device_traces"] for event in events for frame in event["frames"]}
        self.assertTrue({"attention activations", "mlp activations", "forward", "parameters"} <= names, names)
        self.accepted_by_pytorch(snapshot)

    def accepted_by_pytorch(self, snapshot):
        """Its own tool sums segments up, tells the events and makes both pages; it asks no torch for that."""
        found = sorted(program.ROOT.glob(".deps/venv/lib/python3*/site-packages/torch/cuda/_memory_viz.py"))
        if not found:
            return print("torch's _memory_viz is not here: not asked")
        spec = importlib.util.spec_from_file_location("_memory_viz", found[0])
        viz = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(viz)
        self.assertIn(f"segments: {len(snapshot['segments'])}", viz.segsum(snapshot))
        self.assertIn("cudaMalloc", viz.trace(snapshot))
        self.assertIn("layer:1:attention activations", viz._frames_fmt(next(event["frames"] for event in snapshot["device_traces"][0]
                                                                           if event["frames"][0]["name"] == "attention activations")))
        self.assertIn("parameters", viz.memory(snapshot, format_flamegraph=lambda lines: lines))
        for page in viz.trace_plot(snapshot), viz.segment_plot(snapshot):
            self.assertIn("snapshot.pickle", page)

    def test_agrees_with_the_prediction_in_the_plan(self):
        plan = self.make_plan()
        step = self.document("simulate", plan)["result"]["step_time_seconds"]
        predicted = json.loads(plan.read_text())["predictions"]["step_time"]
        value, unit = predicted.split()
        self.assertAlmostEqual(float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}[unit], step, places=12)

    def test_every_rank_gives_the_same_step(self):
        plan = self.make_plan("--fix", "data=4")
        folded, unfolded = (self.document("simulate", plan, *more)["result"] for more in ([], ["--every-rank"]))
        self.assertEqual(len(unfolded["devices"]), 4)
        self.assertEqual(len(folded["devices"]), 1)
        for key in ("step_time_seconds", "peak_memory_bytes"):
            self.assertEqual(folded[key], unfolded[key])

    def test_a_slow_rank_is_named_with_what_it_costs(self):
        plan = self.make_plan("--fix", "data=4")
        result = self.document("simulate", plan, "--slow-rank", "1=2.5", "--check")["result"]
        self.assertEqual(result["disturbed_by"], ["rank 1 computes 2.5 times as long (stage 0, node 0)"])
        self.assertGreater(result["step_time_seconds"], 1.5 * result["undisturbed_step_time_seconds"])
        self.assertIn("disturbed: rank 1", self.run_program("simulate", plan, "--slow-rank", "1=2.5").stdout)

    def test_an_order_goes_out_and_comes_back(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "schedule=zb-1p")
        csv, copy = self.folder / "order.csv", self.folder / "copy.json"
        step = self.document("simulate", plan, "--write-order", csv)["result"]["step_time_seconds"]
        self.assertRegex(csv.read_text(), r"^0F0,.*\n1F0,1I0,")
        again = self.document("simulate", plan, "--order", csv, "--write-plan", copy)
        self.assertEqual(again["result"]["step_time_seconds"], step)
        self.assertEqual(again["plan"]["schedule"], "csv")
        self.assertEqual(self.document("simulate", copy, "--check")["result"]["step_time_seconds"], step)

    def test_an_order_is_searched_and_kept_where_it_is_faster(self):
        plan = self.make_plan("--fix", "pipeline=4", "--fix", "microbatch=1", "--fix", "schedule=zb-2p")
        copy = self.folder / "searched.json"
        before = self.document("simulate", plan)["result"]
        after = self.document("simulate", plan, "--order", "searched", "--write-plan", copy)["result"]
        self.assertLessEqual(after["step_time_seconds"], before["step_time_seconds"])
        self.assertLessEqual(after["peak_memory_bytes"], before["peak_memory_bytes"])
        self.assertEqual(self.document("simulate", copy, "--check")["result"]["step_time_seconds"], after["step_time_seconds"])
        one_stage = self.make_plan("--fix", "pipeline=1")
        self.assertIn("there is no order to search", self.run_program("simulate", one_stage, "--order", "searched", expect=30).stderr)

    def test_an_order_that_deadlocks_says_who_waits(self):
        plan = self.make_plan("--fix", "pipeline=2", "--fix", "tensor=2", "--fix", "microbatch=8", "--fix", "schedule=1f1b")
        csv = self.write("order.csv", "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n")
        self.assertIn("row 0 waits at 0B0 for 1B0 of row 1", self.run_program("simulate", plan, "--order", csv, expect=30).stderr)

    def test_a_training_takes_longer_where_devices_fail(self):
        plan = self.make_plan()
        rates = ["--steps", "100000", "--mtbf", "1 h", "--restart-time", "20 s", "--checkpoint-time", "1 s", "--stragglers", "5", "--draws", "20"]
        document = self.document("simulate", plan, *rates)
        training = document["training"]
        parts = sum(training[name + "_seconds"] for name in ("useful", "slowed", "saving", "lost", "restarting"))
        self.assertAlmostEqual(parts, training["time_to_train_seconds"]["mean"], delta=1e-6 * parts)
        self.assertLess(training["goodput_ratio"]["mean"], 1)
        self.assertAlmostEqual(training["useful_seconds"], 100000 * document["result"]["step_time_seconds"], places=6)
        self.assertIn("80 % between", self.run_program("simulate", plan, *rates).stdout)
        self.assertIn("no time", self.run_program("simulate", plan, "--steps", "5", "--mtbf", "soon", expect=30).stderr)
        self.assertIn("never train", self.run_program("simulate", plan, "--steps", "5", "--mtbf", "0 s", expect=30).stderr)

    def test_disturbances_that_cannot_be_are_all_named(self):
        plan = self.make_plan()
        single = json.loads(plan.read_text())
        single["cluster"]["hardware"]["intra_node"].pop("lanes")
        single["cluster"]["hardware"]["sources"].pop("intra_node.lanes")
        plan.write_text(json.dumps(single))
        error = self.run_program("simulate", plan, "--slow-rank", "7=2", "--slow-rank", "0=0.5", "--slow-link", "port 0=nan",
                                 "--slow-link", "cable=0.5", "--lost-link", "port 0", expect=30).stderr
        for text in ("7=2", "0=0.5", "port 0=nan", "cable", "port 0 is a single lane"):
            self.assertIn(text, error)


if __name__ == "__main__":
    program.main()
