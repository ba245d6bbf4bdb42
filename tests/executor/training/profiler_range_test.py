"""A profiler that listens to NVTX is told each step and, inside it, each task by the key that the trace has. Run: profiler_range_test.py <worker> <plans> <listener>"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

WORKER, PLANS, LISTENER = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
STEPS = 3


def trained(folder, **environment):
    tokens = [at % 31 for at in range(600)]
    (folder / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    command = [WORKER, "run", "--plan", str(PLANS / "solo.json"), "--data", str(folder / "tokens.bin"), "--steps", str(STEPS), "--out", str(folder / "run")]
    ended = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return [event for event in json.loads((folder / "run/trace.0.json").read_text())["traceEvents"] if event.get("ph") == "X" and "key" in event.get("args", {})]


class ProfilerRanges(unittest.TestCase):
    def test_steps_and_tasks_by_their_keys(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            spans = trained(folder, NVTX_INJECTION64_PATH=LISTENER, NVTX_HEARD=str(folder / "heard"))
            depth, steps = 0, []
            for line in (folder / "heard").read_text().splitlines():
                if line == "-":
                    depth -= 1
                elif depth == 0:
                    steps.append([line[2:]])
                    depth += 1
                else:
                    steps[-1].append(line[2:])
                    depth += 1
                self.assertIn(depth, (0, 1, 2))
            self.assertEqual(depth, 0)
            self.assertEqual([step[0] for step in steps], [f"step {at}" for at in range(len(steps))][:STEPS])
            keys = [span["args"]["key"] for span in spans]
            self.assertGreater(len(steps[0]), 10)
            self.assertEqual(sorted(key for step in steps for key in step[1:]), sorted(keys))


unittest.main()
