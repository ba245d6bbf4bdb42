#!/usr/bin/env python3
"""Makes the figures report: predicted against measured step time and memory of eight plans on this machine.

    examples/figures.py [--rounds 5] [--steps 12] [-o examples/figures.md]

Protocol: the first steps of a run are left out; the plans run in turn, round after round, with a reference kernel between them. A rented
machine changes its speed by a quarter within minutes, so every time is brought to the machine's speed while it was measured: divided by what
the reference kernel took beside the run, times what it took beside `measure`. Figures are medians over rounds; beside every error stands the
noise floor, the spread of the measured medians over rounds; work of other programs on the machine is read from /proc/stat and said. Needs
build/release (examples/quickstart.sh builds it) and the venv in .deps.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build" / "release" / "bin" / "meshwright"
PYTHON = ROOT / ".deps" / "venv" / "bin" / "python"
FOLDER = ROOT / "runs" / "figures"
WARM_UP = 3
FOREIGN_LIMIT = 0.05   # share of the machine that others may take before a round is called disturbed

PLANS = [  # name, devices, fixed axes
    ("solo", 1, ["microbatch=8", "recompute=none"]),
    ("D2 ddp", 2, ["data=2", "zero=0", "microbatch=4", "recompute=none"]),
    ("D2 ZeRO-3", 2, ["data=2", "zero=3", "microbatch=4", "recompute=none"]),
    ("T2", 2, ["tensor=2", "microbatch=8", "recompute=none", "sequence_parallel=false"]),
    ("P2 1f1b m4", 2, ["pipeline=2", "schedule=1f1b", "microbatch=2", "recompute=none"]),
    ("P2 gpipe m4 recompute", 2, ["pipeline=2", "schedule=gpipe", "microbatch=2", "recompute=full"]),
    ("D2 T2", 4, ["data=2", "tensor=2", "microbatch=4", "recompute=none", "sequence_parallel=false"]),
    ("D2 P2 1f1b", 4, ["data=2", "pipeline=2", "schedule=1f1b", "microbatch=1", "recompute=none"]),
]
FITTED = ("solo", "D2 ddp")          # calibration sees these alone
OVERSUBSCRIBED = ("D2 T2", "D2 P2 1f1b")
REFERENCE = "import time,torch; torch.set_num_threads(1); a=torch.rand(512,512); [a@a for _ in range(20)]; t=time.perf_counter(); " \
            "[a@a for _ in range(200)]; print(time.perf_counter()-t)"


def say(text):
    print(text, file=sys.stderr, flush=True)


def call(*words):
    return subprocess.run([str(word) for word in words], cwd=ROOT, check=True, text=True, capture_output=True).stdout


def document(*words):
    return json.loads(call(PROGRAM, *words, "--json"))


class ForeignLoad:
    """Processor time that the machine spent on others while we ran, as a share of all its time."""

    def __enter__(self):
        self.busy, self.own, self.start = self._busy(), self._own(), time.monotonic()
        return self

    def __exit__(self, *_):
        spent = (time.monotonic() - self.start) * os.cpu_count()
        self.share = max(0.0, (self._busy() - self.busy) - (self._own() - self.own)) / spent

    @staticmethod
    def _busy():
        fields = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        user, nice, system, _, _, irq, softirq, steal = fields
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _own():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in used)


def slug(name):
    return name.replace(" ", "_")


def make_plans(model):
    for name, devices, fixed in PLANS:
        words = [word for axis in fixed for word in ("--fix", axis)]
        call(PROGRAM, "plan", "--model", model, "--cluster", FOLDER / "machine.json", "--devices", devices, "--global-batch", 8, "--sequence", 128,
             "--runnable", *words, "-o", FOLDER / f"{slug(name)}.json")


def reference_kernel():
    return float(call(PYTHON, "-c", REFERENCE))


def one_run(name, round_number, steps):
    folder = FOLDER / f"{slug(name)}.{round_number}"
    call(PROGRAM, "run", FOLDER / f"{slug(name)}.json", "--data", FOLDER / "tokens.bin", "--steps", steps, "-o", folder)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    return document("compare", folder, "--warm-up", WARM_UP)


def measure_rounds(rounds, steps):
    """name -> list of comparisons, each with the reference kernel's seconds beside it; those seconds; foreign share of each round."""
    results, reference, foreign = {name: [] for name, _, _ in PLANS}, [reference_kernel()], []
    for number in range(rounds):
        with ForeignLoad() as load:
            for name, _, _ in PLANS:
                comparison = one_run(name, number, steps)
                reference.append(reference_kernel())
                results[name].append(comparison | {"reference": statistics.mean(reference[-2:])})
        foreign.append(load.share)
        say(f"round {number + 1} of {rounds}: {100 * load.share:.1f} % of the machine was busy with something else")
    return results, reference, foreign


def spread(values):
    """Distance between the quartiles as a share of the median."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(position) for position in range(len(values))]


def spearman(a, b):
    return statistics.correlation(ranks(a), ranks(b))


def percent(share, sign="+"):
    return f"{100 * share:{sign}.1f} %"


def figures_of(results, calibrated, speed):
    """One row a plan: medians over rounds. `speed`: seconds of the reference kernel beside `measure`."""
    rows = []
    for name, comparisons in results.items():
        raw = [comparison["step"]["measured_seconds"] for comparison in comparisons]
        measured = [seconds * speed / comparison["reference"] for seconds, comparison in zip(raw, comparisons)]
        last = FOLDER / f"{slug(name)}.{len(comparisons) - 1}"
        refined = document("compare", last, "--warm-up", WARM_UP, "--cluster", calibrated)
        middle = statistics.median(measured)
        memory = statistics.median(comparison["memory_measured_bytes"] for comparison in comparisons)
        rows.append({"name": name, "raw": statistics.median(raw), "measured": middle, "noise": spread(measured), "simulated": comparisons[0]["step"]["simulated_seconds"],
                     "calibrated": refined["step"]["simulated_seconds"], "memory": memory, "memory_simulated": comparisons[0]["memory_simulated_bytes"],
                     "ledger": all(comparison["ledger_equal"] for comparison in comparisons),
                     "unmatched": sum(len(comparison["only_simulated"]) + len(comparison["only_measured"]) for comparison in comparisons)})
    return rows


def plan_table(rows):
    lines = ["| Plan | as timed | measured | noise floor | simulated | error | calibrated on 1 and 2 | error | memory measured | simulated | error | ledger |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for number, row in enumerate(rows, 1):
        step, refined = row["simulated"] / row["measured"] - 1, row["calibrated"] / row["measured"] - 1
        lines.append(f"| ({number}) {row['name']} | {1e3 * row['raw']:.1f} ms | {1e3 * row['measured']:.1f} ms | {percent(row['noise'], '')} | {1e3 * row['simulated']:.1f} ms | "
                     f"{percent(step)} | {1e3 * row['calibrated']:.1f} ms | {percent(refined)} | {row['memory'] / 2**20:.1f} MiB | "
                     f"{row['memory_simulated'] / 2**20:.1f} MiB | {percent(row['memory_simulated'] / row['memory'] - 1)} | "
                     f"{'equal' if row['ledger'] and not row['unmatched'] else 'DIFFERS'} |")
    return "\n".join(lines)


def mean_error(rows, key):
    return statistics.mean(abs(row[key] / row["measured"] - 1) for row in rows)


def summary(rows):
    main = [row for row in rows if row["name"] not in OVERSUBSCRIBED]
    others = [row for row in main if row["name"] not in FITTED]
    measured = [row["measured"] for row in main]
    memory = [row["memory_simulated"] / row["memory"] - 1 for row in main]
    noise = statistics.mean(row["noise"] for row in main)
    return "\n".join([
        "| What | Figure | Beside it |", "|---|---|---|",
        f"| step time of plans 1-6 after `measure` alone: mean error | {percent(mean_error(main, 'simulated'), '')} | noise floor {percent(noise, '')} |",
        f"| the same: rank correlation (Spearman) | {spearman([row['simulated'] for row in main], measured):.2f} | |",
        f"| plans 3-6 after calibrating on plans 1 and 2: mean error | {percent(mean_error(others, 'calibrated'), '')} | before: "
        f"{percent(mean_error(others, 'simulated'), '')}; noise floor {percent(statistics.mean(row['noise'] for row in others), '')} |",
        f"| peak memory of plans 1-6: lowest and highest error | {percent(min(memory))}, {percent(max(memory))} | |"])


def eager_figure(what, model, samples, sequence, steps):
    """Tokens a second of the executor on one core, as a ratio to the same model in eager PyTorch."""
    plan = FOLDER / f"{what}.json"
    call(PROGRAM, "plan", "--model", ROOT / "profiles" / "models" / model, "--cluster", FOLDER / "machine.json", "--devices", 1, "--global-batch",
         samples, "--sequence", sequence, "--runnable", "--fix", f"microbatch={samples}", "--fix", "recompute=none", "-o", plan)
    said = call(PYTHON, ROOT / "tests" / "reference" / "compare_speed.py", PROGRAM.with_name("meshwright-worker"), plan, FOLDER / "tokens.bin", 7, steps)
    ratio, spread, fastest = re.search(r"median ratio (\S+) \+- (\S+) over .* steps (\S+)", said).groups()
    return f"| executor against eager PyTorch, {what} ({model}, {samples} x {sequence} tokens): tokens/s | {ratio} x | half the range of 7 rounds: {spread}; of the fastest steps: {fastest} x |"


def engine_figure():
    build = ROOT / "build" / "planner"
    call("cmake", "--preset", "planner")
    call("cmake", "--build", build, "--target", "sim_engine_benchmark")
    counters = json.loads(call(build / "bin" / "sim_engine_benchmark", "--benchmark_format=json"))["benchmarks"]
    rates = ", ".join(f"{row['name'].split('/')[0].removeprefix('BM_')} {row['tasks'] / 1e6:.1f}" for row in counters)
    return f"| simulator on one core, million tasks a second (GPT-3 175B, 1,024 ranks) | {rates} | |"


def speed_table():
    return "\n".join(["| Speed | Figure | Beside it |", "|---|---|---|",
                      eager_figure("bound by products", "gpt2-23m.json", 4, 256, 8),
                      eager_figure("bound by calls", "tiny-gpt2.json", 1, 16, 200), engine_figure()])


def report(options, rows, reference, speed, foreign):
    disturbed = sum(share > FOREIGN_LIMIT for share in foreign)
    cpu = next(line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    said = f"in {disturbed} of {len(foreign)} rounds more than {percent(FOREIGN_LIMIT, '')} (THE FIGURES ARE DISTURBED)" if disturbed else "none of note"
    return "\n\n".join([
        f"Made by `examples/figures.py` on {time.strftime('%Y-%m-%d')}: {cpu}, {os.cpu_count()} cores; {options.model.stem}, global batch 8, sequence 128, "
        f"fp32; {options.rounds} rounds of {options.steps} steps, the first {WARM_UP} left out. Plans 7 and 8 run 4 ranks on {os.cpu_count()} cores. "
        "`measured` is brought to the speed that the machine had during `measure`.",
        plan_table(rows), summary(rows),
        f"Reference kernel (200 products of 512 x 512): {1e3 * speed:.0f} ms beside `measure`; between the runs median "
        f"{1e3 * statistics.median(reference):.0f} ms, quartile spread {percent(spread(reference), '')}. "
        f"Work of other programs: {said} (median {percent(statistics.median(foreign), '')} of the machine).",
        speed_table()]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "profiles" / "models" / "tiny-gpt2.json")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "examples" / "figures.md")
    options = parser.parse_args()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    say("measuring the machine ...")
    beside = [reference_kernel()]
    call(PROGRAM, "measure", "-o", FOLDER / "machine.json", "--ranks", "1,2,4")
    beside.append(reference_kernel())
    speed = statistics.mean(beside)
    call(PROGRAM, "tokenize", *sorted(ROOT.glob("sim/*/*.h")), ROOT / "LICENSE", "-o", FOLDER / "tokens.bin")
    make_plans(options.model)
    results, reference, foreign = measure_rounds(options.rounds, options.steps)
    fitted = [FOLDER / f"{slug(name)}.{number}" for name in FITTED for number in range(options.rounds)]
    call(PROGRAM, "calibrate", *fitted, "--cluster", FOLDER / "machine.json", "-o", FOLDER / "calibrated.json")
    options.output.write_text(report(options, figures_of(results, FOLDER / "calibrated.json", speed), reference, speed, foreign))
    say(f"figures: {options.output}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)} ended with {error.returncode}:\n{error.stdout}\n{error.stderr}")
