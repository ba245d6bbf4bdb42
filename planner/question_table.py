"""Writes the table of questions in docs/figures/planner.md and the sentence on GPT-3 in README.md: what the planner needs for questions of every week.
From a clean clone: build the preset planner, then run this. Processor time of the process (user and system), not the clock's: other programs on the machine
change it little, but they do; run it on an idle machine for figures to quote.

usage: question_table.py MESHWRIGHT [--exact]   (build/planner/bin/meshwright; --exact: also with --gap 0)
"""
import contextlib
import datetime
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

FIGURES, README = ROOT / "docs" / "figures" / "planner.md", ROOT / "README.md"
CONFIGS = ROOT / "profiles" / "models"
MODELS = {"GPT-3 175B": ROOT / "profiles/models/gpt3-175b.json", "Llama-3-70B": ROOT / "profiles/models/llama-3-70b.json",
          "DeepSeek-V3": CONFIGS / "deepseek-v3.json", "Qwen3-30B-A3B": CONFIGS / "qwen3-30b-a3b.json"}
QUESTIONS = (  # model, H100s, global batch, sequence, further options
    ("GPT-3 175B", 1024, 1536, 2048, ()),
    ("GPT-3 175B", 4096, 1536, 2048, ()),
    ("Llama-3-70B", 128, 512, 8192, ()),
    ("Llama-3-70B", 1024, 256, 131072, ()),
    ("DeepSeek-V3", 1024, 1024, 4096, ("--for", "megatron")),
    ("Qwen3-30B-A3B", 64, 512, 4096, ()),
    ("Llama-3-70B", 16384, 2048, 131072, ()),
    ("Llama-3-70B", 128, 512, 8192, ("--for", "torchtitan")),
    ("Llama-3-70B", 128, 512, 8192, ("--for", "nanotron")),
)


def longer(model, positions, folder):
    """The network with room for so many positions: the question is about its cost, not about what it was trained on."""
    config = json.loads(MODELS[model].read_text())
    config["max_position_embeddings"] = max(positions, config.get("max_position_embeddings", 0))
    path = pathlib.Path(folder) / f"{model}.json"
    path.write_text(json.dumps(config))
    return path


def command_of(program, question, folder, *more):
    model, devices, batch, sequence, own = question
    config = longer(model, sequence, folder) if model.startswith("Llama") else MODELS[model]
    return list(map(str, [program, "plan", "--model", config, "--cluster", "h100-80gb-sxm", "--devices", devices, "--global-batch", batch, "--sequence", sequence, *own, *more]))


def first_answer(program, question):
    """Seconds of the clock until the first simulated plan is shown on a terminal, and the words that say how much faster another can be; then the search is ended."""
    with tempfile.TemporaryDirectory() as folder:
        ours, its = pty.openpty()
        begin, shown = time.monotonic(), ""
        child = subprocess.Popen(command_of(program, question, folder), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=its, env={**os.environ, "TERM": "xterm"})
        os.close(its)
        with contextlib.suppress(OSError):  # the program has ended
            while not (gap := re.search(r"best [^\r]*no plan is more than (\S+ %) faster", shown)) and (more := os.read(ours, 4096)):
                shown += more.decode()
        seconds = time.monotonic() - begin
        child.terminate()
        os.close(ours)
        child.wait()
        return f"{seconds:.1f}, {gap.group(1)}" if gap else "at the end"


def timed(command):
    """What it prints, seconds of processor time, MB at most."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"{' '.join(command)}: exit code {os.waitstatus_to_exitcode(status)}")
        out.seek(0)
        return out.read(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def ask(program, question, gap):
    """Seconds of processor time of the answer in words, MB at most."""
    with tempfile.TemporaryDirectory() as folder:
        return timed(command_of(program, question, folder, "--gap", gap))[1:]


def document(program, question):
    """The answer, and seconds of processor time: each plan that it lists has its allocator replayed."""
    with tempfile.TemporaryDirectory() as folder:
        text, seconds, _ = timed(command_of(program, question, folder, "--json", "--gap", "1 %"))
        return json.loads(text), seconds


def row(question, program, exact):
    model, devices, batch, sequence, more = question
    seconds, memory = ask(program, question, "1 %")
    precise = f"{ask(program, question, '0')[0]:.1f}" if exact else ""
    found, with_document = document(program, question)
    first = first_answer(program, question)
    best = found["ranked"][0]["result"]
    print(f"{model} on {devices}: {seconds:.1f} s", file=sys.stderr)
    return found, seconds, (f"| {model} | {devices:,} | {batch:,} x {sequence:,} | {' '.join(more)} | {first} | {seconds:.1f} | {precise} | {with_document:.1f} | {memory:.0f} | {found['candidates']:,} | "
                            f"{found['simulated']} | {100 * found['gap']:.1f} | {best['step_time_seconds']:.2f} |")


def busy():
    return " beside other programs" if os.getloadavg()[1] > os.cpu_count() + 0.5 else ""


def sentence(found, seconds):
    best = found["ranked"][0]
    plan = best["plan"]
    return (f"GPT-3 175B on 1,024 H100 (global batch 1,536, sequence 2,048, bf16): {seconds:.1f} s of processor time{busy()} for {found['candidates']:,} candidates, "
            f"{found['simulated']} simulated; best: data {plan['data']}, tensor {plan['tensor']}, pipeline {plan['pipeline']}, {plan['schedule']}, ZeRO-{plan['zero_stage']}, "
            f"recompute {plan['recompute']}, {best['result']['step_time_seconds']:.2f} s a step, MFU {100 * best['result']['mfu_ratio']:.1f} %.\n")


def main():
    program, exact = pathlib.Path(sys.argv[1]).resolve(), "--exact" in sys.argv
    rows = []
    for question in QUESTIONS:  # written one by one: what is ended early leaves the questions that it has asked
        found, seconds, text = row(question, program, exact)
        if not rows:
            marks.between(README, "planner", sentence(found, seconds))
        rows.append(text)
        load = os.getloadavg()[1]
        head = (f"Made on {datetime.date.today()}, {os.cpu_count()} cores; load of the machine meanwhile {load:.1f}{': measured' + busy() + ', the figures are too high' if busy() else ''}.\n\n"
                "| model | H100 | batch x sequence | | first answer: s, gap | to 1 %: CPU s | exact: CPU s | `--json`: CPU s | MB at most | candidates | simulated | proven gap, % | best step, s |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
        marks.between(FIGURES, "questions", head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
