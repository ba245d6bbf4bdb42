"""A plan through the programs: run it, compare it. Keys and ledger must be equal, the predicted peak of memory the measured one."""
import json
import struct
import subprocess

MEMORY_ERROR = 0.02
HALF_WORKSPACE = 24 << 10   # of the matrix library's 16-bit products of tiny shapes, which nobody predicts; it grows to 1 MiB and stays there. fp16: where AVX512-FP16 is

MAP_WORKSPACE = 48 << 10    # of the convolution library: what it lays anew around its products, which nobody predicts; at tiny shapes


def write_tokens(root):
    tokens = [(at * at + 5 * at) % 31 for at in range(600)]
    (root / "tokens.bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))


def call(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def multiplies_in_half(plan):
    return json.loads(plan.read_text())["workload"]["precision"].split()[0] in ("bf16", "fp16")


def convolves(plan):
    return "num_channels" in json.loads(plan.read_text())["model"]


def perform(program, plan, root, allowance):
    """Problems of one plan, and its error of memory beyond an allowance in bytes; tokens.bin stands in root."""
    folder = root / plan.stem
    call(program, "run", plan, "--data", root / "tokens.bin", "--steps", 3, "-o", folder)
    compared = json.loads(call(program, "compare", folder, "--json"))
    memory = compared["memory_simulated_bytes"] / compared["memory_measured_bytes"] - 1
    problems = [f"{side}: {compared[side][:3]}" for side in ("only_simulated", "only_measured") if compared[side]]
    if not compared["ledger_equal"]:
        problems.append("ledger: " + compared["ledger_difference"])
    beyond = HALF_WORKSPACE if multiplies_in_half(plan) else MAP_WORKSPACE if convolves(plan) else allowance
    if abs(memory) > MEMORY_ERROR + beyond / compared["memory_measured_bytes"]:
        problems.append(f"memory: {compared['memory_simulated_bytes']} simulated, {compared['memory_measured_bytes']} measured")
    print(f"{plan.stem:44} memory {memory:+.1%}  {'; '.join(problems) or 'keys and ledger equal'}", flush=True)
    return problems


def perform_all(program, folder, root, allowance=0):
    """By plan: what went wrong."""
    write_tokens(root)
    return {plan.stem: perform(program, plan, root, allowance) for plan in sorted(folder.glob("*.json"))}
