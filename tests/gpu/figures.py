"""Keeps what a card showed, and writes docs/figures/gpu.md: the reports of tests/run_gpu.sh, beside what is simulated by the card's own profile.

usage: figures.py MESHWRIGHT [REPORTS...]   (reports: files of $OUT; what they hold replaces what is kept in profiles/measured)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

KEPT = ROOT / "profiles/measured"
NAME = "h200-141gb-sxm"
SHEET = ROOT / f"profiles/hardware/{NAME}.json"   # what users have: a data sheet and rates of published runs
PROFILE, FIGURES, PAGE = KEPT / f"{NAME}.json", KEPT / f"{NAME}.figures.json", ROOT / "docs/figures/gpu.md"
sys.path.insert(0, str(ROOT / "tests/reference"))
import compare_on_device as reference  # noqa: E402


def keep(reports):
    """Without what names one card of many."""
    kept = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"speed": {}}
    for path in map(pathlib.Path, reports):
        report = json.loads(path.read_text())
        kept["machine"] = {**report["machine"], "gpus": [{key: value for key, value in gpu.items() if key not in ("uuid", "temperature.gpu")} for gpu in report["machine"]["gpus"]]}
        kept["made"] = report["made"]
        if "profile" in report:
            PROFILE.write_text(json.dumps(report["profile"] | {"name": f"{NAME}-measured"}, indent=1) + "\n")
            kept["plans"] = {name: {key: plan[key] for key in ("measured_seconds", "measured_bytes")} for name, plan in report["plans"].items()}
        for name in reference.ON_GPU:
            if name in report:
                kept["speed"][name] = report[name]
        for name in ("kernels", "roofline"):
            if name in report:
                kept[name] = report[name]
        if "tests" in report:
            states = [state for test in report["tests"].values() for state in test.values()]
            ranks = "ranks" if any(test.endswith("_ranks") for test in report["tests"]) else "tests"
            kept[ranks] = {state: states.count(state) for state in ("passed", "failed", "skipped")} | {"ended": report["ended"]}
    FIGURES.write_text(json.dumps(kept, indent=1) + "\n")


def simulated(program, name, profile=PROFILE):
    """(seconds, bytes, low, high) of a plan by a profile of the card: name, and what was done with microbatches."""
    model, what = name.split(", ")
    config, samples, sequence, _ = reference.ON_GPU[model]
    fixed = {"one microbatch": (samples, "none"), "two microbatches": (samples // 2, "none"), "recomputed": (samples, "full")}[what]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "config.json").write_text(json.dumps(config))
        subprocess.run([program, "plan", "--model", folder / "config.json", "--cluster", profile, "--devices", "1", "--global-batch", str(samples), "--sequence", str(sequence),
                        "--runnable", "--fix", f"microbatch={fixed[0]}", "--fix", f"recompute={fixed[1]}", "-o", folder / "plan.json"], check=True, capture_output=True)
        told = json.loads(subprocess.run([program, "simulate", folder / "plan.json", "--json"], check=True, capture_output=True, text=True).stdout)["result"]
    return told["step_time_seconds"], told["peak_memory_bytes"], told["step_time_low_seconds"], told["step_time_high_seconds"]


def predictions(program, kept):
    yield ("| plan | measured, ms | simulated, ms | apart | by the data sheet, ms | apart | measured, GiB | simulated, GiB | apart |\n"
           "|---|---|---|---|---|---|---|---|---|")
    for name, measured in kept["plans"].items():
        seconds, memory, _, _ = simulated(program, name)
        by_sheet = simulated(program, name, SHEET)[0]
        apart = lambda of: f"{1e3 * of:.1f} | {100 * (of / measured['measured_seconds'] - 1):+.1f} %"
        yield (f"| {name} | {1e3 * measured['measured_seconds']:.1f} | {apart(seconds)} | {apart(by_sheet)} | "
               f"{measured['measured_bytes'] / 2**30:.2f} | {memory / 2**30:.2f} | {round(100 * (memory / measured['measured_bytes'] - 1), 1) + 0:+.1f} % |")


OURS, THEIRS = ("executor", "executor_graphs", "executor_fp8"), ("strong", "compiled")   # executor: as it runs where nothing is asked for


def speed(kept):
    """Each of ours over each of theirs by itself: what a run does by default is not what another way of running reached."""
    yield ("| model | executor, tokens/s | over strong | over compile | in one graph a step | over strong | over compile | in 8 bit | over strong | over compile | strong eager | "
           "`torch.compile` | memory over strong |\n|" + 13 * "---|")
    for name in (each for each in reference.ON_GPU if each in kept["speed"]):
        of = kept["speed"][name]
        rate = {side: f"{of[side]['tokens_per_second']:,.0f}" if side in of else "" for side in OURS + THEIRS}
        over = {(mine, other): f"{of[mine]['tokens_per_second'] / of[other]['tokens_per_second']:.2f}" if mine in of and other in of else "" for mine in OURS for other in THEIRS}
        cells = [cell for mine in OURS for cell in (rate[mine], *(over[mine, other] for other in THEIRS))] + [rate[other] for other in THEIRS]
        yield f"| {name} | {' | '.join(cells)} | {of['executor_memory_over_strong']:.2f} |"


def kernels(kept):
    yield "| kernel | TB/s | of a copy |\n|---|---|---|"
    for row in kept["kernels"]:
        yield f"| {row['kernel']} | {row['bytes_per_second'] / 1e12:.2f} | {100 * row['share_of_copy']:.0f} % |"


def roofline(kept):
    yield "| | TFLOP/s | of the largest product |\n|---|---|---|"
    for row in kept["roofline"]:
        what = next((each for each in row if each not in ("seconds", "flops_per_second", "share_of_roofline", "copy_bytes_per_second")), None)
        if what:
            yield f"| {what} {' x '.join(map(str, row[what]))} | {row['flops_per_second'] / 1e12:.0f} | {100 * row['share_of_roofline']:.0f} % |"


def machine(kept):
    gpu, of = kept["machine"]["gpus"][0], kept["machine"]
    counts = "; ".join(f"{words}: {kept[name]['passed']} passed, {kept[name]['failed']} failed, {kept[name]['skipped']} skipped" +
                       ("" if kept[name]["ended"] else ", when its time was over")
                       for name, words in (("tests", "tests of one rank"), ("ranks", "compositions of two ranks that share the card")) if name in kept)
    yield (f"{gpu['name']}, {gpu['memory.total']}, driver {gpu['driver_version']}, at most {gpu['clocks.max.sm']} (memory {gpu['clocks.mem']}), {gpu['power.limit']}; "
           f"CUDA {of['cuda_compiler']}, PyTorch {of['torch']}, {of['cores']} cores; {kept['made'][:10]}.\n\n{counts[0].upper() + counts[1:]}.")


def main(program, *reports):
    if reports:
        keep(reports)
    kept = json.loads(FIGURES.read_text())
    for name, lines in (("machine", machine(kept)), ("predictions", predictions(program, kept)), ("speed", speed(kept)), ("kernels", kernels(kept)), ("roofline", roofline(kept))):
        marks.between(PAGE, name, "\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
