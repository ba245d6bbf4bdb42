"""What a step launches on a card: executor beside strong and plain eager PyTorch, counted without a card, and what of it a layer takes.

usage: launches.py LIBRARY WORKER PLANNER [--write]   (--write: the tables into docs/figures/gpu.md)

LIBRARY (counted_cuda/) stands for CUDA's runtime: both programs run as they would on a card of compute capability 9.0, and each call that would launch is counted
by its name. Bounds are held against strong eager. Runs of two lengths give a step, models of two depths a layer. Attention is LibTorch's flash kernel in both: cuDNN's, which a card may take, is not
stood for.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/reference"), str(ROOT / "sim/validation")]
import compare_on_device as reference  # noqa: E402
import marks  # noqa: E402

PAGE = ROOT / "docs/figures/gpu.md"
MODELS = ("gpt2-124m", "gpt2-124m-dropout", "llama-1b")
SHORTER = {"vocab_size": 4096, "intermediate_size": 2048}   # what launches do not depend on, and initial values take long for
DEPTHS, STEPS = (1, 2), (1, 2)
SIDES = ("executor", "strong", "eager")   # as tests/reference/train_gpt.py calls PyTorch's
COLUMNS = ("products", "attention", "other kernels", "fills and copies")
NO_LAUNCHES = ("event", "host waits", "stream waits", "the driver")


def kind_of(name):
    """The column of a counted call, or None where nothing is launched."""
    if name.startswith(NO_LAUNCHES):
        return None
    if name == "product":
        return "products"
    if not name.startswith("kernel "):
        return "fills and copies"
    return "attention" if "flash" in name else "other kernels"


class Counted:
    def __init__(self, library, worker, planner, config, samples, sequence, precision=None, more=()):
        self.library, self.worker, self.planner = (pathlib.Path(each).resolve() for each in (library, worker, planner))
        self.config, self.samples, self.sequence = config | {name: size for name, size in SHORTER.items() if config.get(name, 0) > size}, samples, sequence
        self.precision, self.more = precision, more   # more: words of the planner

    def at_depth(self, layers):
        return self.config | {"n_layer" if "n_layer" in self.config else "num_hidden_layers": layers}

    def command(self, side, folder, steps):
        plan, tokens = folder / "plan.json", folder / "tokens.bin"
        if side == "executor":
            return [self.worker, "run", "--plan", plan, "--data", tokens, "--steps", steps, "--out", folder / "run", "--device", "cuda", "--no-checkpoint"]
        return [sys.executable, ROOT / "tests/reference/train_gpt.py", plan, tokens, steps, "cuda", side]

    def calls(self, side, folder, steps):
        """What was asked of CUDA, by name."""
        driver, counts = folder / "libcuda.so.1", folder / "counts.txt"
        if not driver.exists():
            driver.symlink_to(self.library)
        there = os.environ | {"LD_PRELOAD": str(self.library), "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}", "COUNTED_CUDA": str(counts),
                              "TORCH_CUDNN_SDPA_DEPRIORITIZED": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([str(word) for word in self.command(side, folder, steps)], env=there, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{side} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
        return collections.Counter({name: int(times) for times, name in (line.split("\t", 1) for line in counts.read_text().splitlines())})

    def prepare(self, folder, layers):
        reference.write_plan(self.planner.parent, folder, self.at_depth(layers), self.samples, self.sequence, "cuda",
                             lambda words: subprocess.run([str(word) for word in words], check=True, capture_output=True), self.precision, self.more)
        reference.write_tokens(folder / "tokens.bin", self.config["vocab_size"])

    def memory(self, layers):
        """(simulated, measured) bytes of the executor's peak: LibTorch's allocator works as on a card."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            self.prepare(folder, layers)
            self.calls("executor", folder, 3)
            said = subprocess.run([str(self.planner), "compare", str(folder / "run"), "--warm-up", "1", "--json"], check=True, capture_output=True, text=True).stdout
        found = json.loads(said[said.index("{"):])
        return found["memory_simulated_bytes"], found["memory_measured_bytes"]

    def a_step(self, side, layers):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            self.prepare(folder, layers)
            few, many = (self.calls(side, folder, steps) for steps in STEPS)
        return quotient(many, few, STEPS[1] - STEPS[0])

    def a_layer_and_the_rest(self, side):
        few, many = (self.a_step(side, layers) for layers in DEPTHS)
        layer = quotient(many, few, DEPTHS[1] - DEPTHS[0])
        return layer, collections.Counter({name: few[name] - DEPTHS[0] * layer[name] for name in few | many})


def quotient(many, few, times):
    """What each of so many more took."""
    return collections.Counter({name: (many[name] - few[name]) / times for name in many | few if many[name] != few[name]})


def sums(calls):
    found = collections.Counter()
    for name, times in calls.items():
        if kind_of(name):
            found[kind_of(name)] += times
    return found


def short(name):
    """A kernel of this house by its name alone."""
    plain = subprocess.run(["c++filt"], input=name.removeprefix("kernel "), capture_output=True, text=True, check=True).stdout
    return plain.split("_kernel")[0].split("::")[-1].strip()


def own_kernels(calls):
    found = collections.Counter()
    for name, times in calls.items():
        if name.startswith("kernel _ZN8executor"):
            found[short(name)] += times
    return ", ".join(f"{name} {times:g}" for name, times in sorted(found.items()) if times)


def table(counted):
    yield f"| model | | {' | '.join(COLUMNS)} | launches |\n|---|---|{'---|' * len(COLUMNS)}---|"
    for model, sides in counted.items():
        for side, (layer, rest) in sides.items():
            for what, calls in (("a layer", layer), ("beside layers", rest)):
                of = sums(calls)
                yield f"| {model} | {side}, {what} | {' | '.join(f'{of[column]:g}' for column in COLUMNS)} | {sum(of.values()):g} |"
    yield ""
    for model, sides in counted.items():
        layer, rest = sides["executor"]
        yield f"Own kernels of {model}: a layer {own_kernels(layer)}; beside layers {own_kernels(rest)}."
        yield ""


def count(library, worker, planner, models=MODELS):
    return {name: {side: Counted(library, worker, planner, *reference.ON_GPU[name][:3]).a_layer_and_the_rest(side) for side in SIDES} for name in models}


def main(library, worker, planner, *more):
    counted = count(library, worker, planner)
    print(json.dumps({name: {side: [dict(sums(calls)) for calls in both] for side, both in sides.items()} for name, sides in counted.items()}), file=sys.stderr)
    if more == ("--write",):
        marks.between(PAGE, "launches", "\n".join(table(counted)))
    else:
        print("\n".join(table(counted)))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
