"""The same engine by Meshwright: what a rank holds of parameters and optimizer states in a plan of `--software deepspeed`."""
import json
import pathlib
import subprocess
import tempfile

from simulated import config_of


def simulate_engine(program, case):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "config.json").write_text(json.dumps(config_of(case)))
        ranks = case["ranks"]
        fixed = {"data": ranks, "microbatch": case["microbatch"], "tensor": 1, "pipeline": 1, "context": 1, "recompute": "none", "zero": case["zero"], "replicas": 1}
        if case["microbatches"] > 1:
            fixed["accumulation"] = "reduce_last" if case["zero"] < 2 else "reduce_each"

        def run(*arguments):
            done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{case}\n{' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
            return done.stdout

        run("plan", "--model", folder / "config.json", "--cluster", "h200-141gb-sxm", "--devices", ranks, "--global-batch", ranks * case["microbatch"] * case["microbatches"],
            "--sequence", case["sequence"], "--software", "deepspeed", "--precision", case["precision"], "--vocabulary-multiple", 1, "--risk", "100 %",
            *(word for axis, value in fixed.items() for word in ("--fix", f"{axis}={value}")), "-o", folder / "plan.json")
        return json.loads(run("simulate", folder / "plan.json", "--json"))["result"]["devices"][0]["memory_at_peak_bytes"]
