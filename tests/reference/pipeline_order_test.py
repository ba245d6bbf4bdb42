"""PyTorch takes the order of every schedule: what `export --to csv` writes is loaded, lowered to sends and receives, and runs to its end.

pipeline_order_test.py <meshwright>
"""
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

from torch.distributed.pipelining import schedules

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = sys.argv.pop()
STAGES, MICROBATCHES = 2, 4
CHUNKS = {"gpipe": 1, "1f1b": 1, "interleaved": 2, "zb-1p": 1, "zb-2p": 1, "zbv": 2, "v-half": 2, "v-min": 2, "looped-bfs": 2, "dualpipev": 2}


def exported(schedule, folder):
    plan = folder / "plan.json"
    fixed = {"pipeline": STAGES, "tensor": 1, "data": 1, "context": 1, "microbatch": 1, "schedule": schedule, "chunks": CHUNKS[schedule]}
    subprocess.run([PROGRAM, "plan", "--model", ROOT / "profiles/models/tiny-gpt2.json", "--cluster", "h100-80gb-sxm", "--devices", str(STAGES), "--global-batch", str(MICROBATCHES),
                    "--sequence", "128", *(word for axis, value in fixed.items() for word in ("--fix", f"{axis}={value}")), "-o", plan], check=True, capture_output=True)
    subprocess.run([PROGRAM, "export", plan, "--to", "csv", "-o", folder], check=True, capture_output=True)
    return folder / "pipeline_order.csv"


def loaded(csv, chunks):
    """The runtime without stages and process groups: what reads, lowers and rehearses an order needs neither."""
    runtime = object.__new__(schedules._PipelineScheduleRuntime)
    for name, value in {"pipeline_order": {}, "pp_group_size": STAGES, "_num_stages": STAGES * chunks, "_n_microbatches": MICROBATCHES,
                        "_stages": [types.SimpleNamespace(stage_index_to_group_rank=None)]}.items():
        setattr(runtime, name, value)
    runtime._load_csv(str(csv))
    return runtime


def rehearsed(runtime):
    """With sends and receives, but without what FSDP adds, which PyTorch's rehearsal does not know."""
    rank_of = runtime.stage_index_to_group_rank.__getitem__
    return schedules._simulate_comms_compute(schedules._add_send_recv(runtime.pipeline_order, rank_of, runtime._num_stages), rank_of, runtime._num_stages)


class Orders(unittest.TestCase):
    def test_every_schedule_is_loaded_and_ends(self):
        for schedule, chunks in CHUNKS.items():
            with self.subTest(schedule=schedule), tempfile.TemporaryDirectory() as folder:
                runtime = loaded(exported(schedule, pathlib.Path(folder)), chunks)
                forwards = [action for row in runtime.pipeline_order.values() for action in row if action is not None and action.computation_type == schedules.FORWARD]
                self.assertEqual(len(forwards), STAGES * chunks * MICROBATCHES)
                self.assertEqual(set(rehearsed(runtime)), set(range(STAGES)))

    def test_dualpipev_is_pytorchs_own(self):
        """A full backward is an input gradient with its weights' right behind it; of two that overlap ours writes the backward first."""
        theirs = object.__new__(schedules.ScheduleDualPipeV)
        theirs.pp_group_size, theirs._n_microbatches = STAGES, MICROBATCHES
        with tempfile.TemporaryDirectory() as folder:
            rows = exported("dualpipev", pathlib.Path(folder)).read_text().splitlines()
        for rank, row in enumerate(rows):
            flat = []
            for action in theirs._calculate_single_rank_operations(rank):
                for one in reversed(action.sub_actions) if action.sub_actions else [action]:
                    flat += [str(one).replace("B", kind) for kind in ("IW" if "B" in str(one) else "B")]
            self.assertEqual([cell for cell in row.split(",") if cell], flat)

    def test_an_order_that_waits_for_itself_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder) / "x.csv"
            csv.write_text("0B0,0F0\n1F0,1B0\n")
            with self.assertRaises(Exception):
                rehearsed(loaded(csv, 1))


if __name__ == "__main__":
    unittest.main()
