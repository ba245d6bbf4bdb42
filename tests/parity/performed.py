"""Plans through the programs: judge them, run them, compare them. Keys and ledger must be equal, the predicted peak of memory the measured one.

Of each number of ranks the first plan goes through `meshwright run`; the others share a job (perform_plans.cpp), and what that job did not end is run alone.
"""
import collections
import concurrent.futures
import json
import math
import struct
import subprocess

MEMORY_ERROR = 0.02
HALF_WORKSPACE = 24 << 10   # also where products in 8 bit are emulated; of the matrix library's 16-bit products of tiny shapes, which nobody predicts; it grows to 1 MiB and stays there. fp16: where AVX512-FP16 is
MAP_WORKSPACE = 8 << 10     # of convolutions of fewer than 16 channels, whose copies have other layouts (decision 980)
STEPS = 3
MPIRUN = "mpirun --allow-run-as-root --oversubscribe --bind-to none -x OMP_NUM_THREADS=1 -np".split()

def write_tokens(root):
    tokens = [(at * at + 5 * at) % 31 for at in range(600)]
    (root / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))


def call(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def num_ranks(plan):
    mesh = json.loads(plan.read_text())["mesh"]
    return math.prod(mesh.get(axis, 1) for axis in ("data", "context", "pipeline", "tensor"))


def multiplies_in_half(plan):
    return json.loads(plan.read_text())["workload"]["precision"].split()[0].startswith(("bf16", "fp16", "fp8"))


def convolves(plan):
    return "num_channels" in json.loads(plan.read_text())["model"]


def has_run(folder):
    metrics = folder / "metrics.ndjson"
    return metrics.exists() and len(metrics.read_text().splitlines()) == STEPS


def perform_together(performer, ranks, plans, root):
    done = subprocess.run([*MPIRUN, str(ranks), performer, root, *plans], capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        print(f"{len(plans)} plans of {ranks} ranks in one job: {done.returncode}\n{done.stderr}", flush=True)


def run_all(program, performer, plans, root):
    by_ranks = collections.defaultdict(list)
    for plan in plans:
        by_ranks[num_ranks(plan)].append(plan)
    for ranks, (_, *others) in by_ranks.items():
        if others:
            perform_together(performer, ranks, others, root)
    for plan in plans:
        if not has_run(root / plan.stem):
            call(program, "run", plan, "--data", root / "tokens.bin", "--steps", STEPS, "-o", root / plan.stem)


def judgement(program, plan):
    try:
        call(program, "simulate", plan, "--check")
    except RuntimeError as broken:
        return [str(broken)]
    return []


def problems_of(program, plan, folder, allowance):
    """Error of the predicted peak, and problems, of a run beside its plan; an allowance of memory in bytes."""
    compared = json.loads(call(program, "compare", folder, "--json"))
    memory = compared["memory_simulated_bytes"] / compared["memory_measured_bytes"] - 1
    problems = judgement(program, plan)
    problems += [f"{side}: {compared[side][:3]}" for side in ("only_simulated", "only_measured") if compared[side]]
    if not compared["ledger_equal"]:
        problems.append("ledger: " + compared["ledger_difference"])
    beyond = HALF_WORKSPACE if multiplies_in_half(plan) else MAP_WORKSPACE if convolves(plan) else allowance
    if abs(memory) > MEMORY_ERROR + beyond / compared["memory_measured_bytes"]:
        problems.append(f"memory: {compared['memory_simulated_bytes']} simulated, {compared['memory_measured_bytes']} measured")
    return memory, problems


def perform_all(program, performer, plans, root, allowance=0):
    """By plan: what went wrong."""
    write_tokens(root)
    run_all(program, performer, plans, root)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for plan, (memory, problems) in zip(plans, pool.map(lambda plan: problems_of(program, plan, root / plan.stem, allowance), plans)):
            print(f"{plan.stem:44} memory {memory:+.1%}  {'; '.join(problems) or 'keys and ledger equal'}", flush=True)
            found[plan.stem] = problems
    return found
