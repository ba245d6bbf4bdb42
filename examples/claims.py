#!/usr/bin/env python3
"""Checks what articles about parallel training claim: each claim is planned and simulated, and gets a verdict with its figures.

    examples/claims.py             docs/figures/claims.md, made anew (a minute on two cores)
    examples/claims.py --print     the page on standard output
    examples/claims.py C3 C6       these alone, on standard output

Needs the command line alone: $MESHWRIGHT, else build/dev/bin/meshwright. Nothing is measured here: times are those of published runs' profiles.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("MESHWRIGHT", ROOT / "build/dev/bin/meshwright")
PAGE = ROOT / "docs" / "figures" / "claims.md"
GIB = 2**30
STATES = ("parameters", "gradients", "optimizer_state")
BERT_LARGE = {"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
              "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
GPT_13B = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 5120, "n_layer": 40, "n_head": 40, "n_positions": 2048, "vocab_size": 50257,
           "activation_function": "gelu", "layer_norm_epsilon": 1e-5}


class Desk:
    """A folder for plans, and the program to ask."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.plans = 0

    def path(self, name):
        return self.folder / name

    def model(self, name, config):
        self.path(name).write_text(json.dumps(config))
        return self.path(name)

    def call(self, *words, may_end_with=(0,)):
        done = subprocess.run([str(word) for word in (PROGRAM, *words)], cwd=ROOT, text=True, capture_output=True)
        if done.returncode not in may_end_with:
            raise SystemExit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
        return done

    def plan(self, model, cluster, devices, batch, sequence, *more, **fixed):
        """The best plan's file; None where there is none."""
        self.plans += 1
        path = self.path(f"plan{self.plans}.json")
        axes = [word for axis, value in fixed.items() for word in ("--fix", f"{axis}={value}")]
        done = self.call("plan", "--model", model, "--cluster", cluster, "--devices", devices, "--global-batch", batch, "--sequence", sequence, *more, *axes, "-o", path,
                         may_end_with=(0, 10))
        return path if done.returncode == 0 else None

    def simulate(self, plan, *more):
        return json.loads(self.call("simulate", plan, "--json", *more).stdout)["result"]


def layout(path):
    plan = json.loads(path.read_text())
    mesh = plan["mesh"]
    return f"data {mesh.get('data', 1)} x tensor {mesh.get('tensor', 1)} x pipeline {mesh.get('pipeline', 1)}, ZeRO-{plan['zero_stage']}, recompute {plan['recompute']}"


def states(result):
    return sum(result["devices"][0]["memory_at_peak_bytes"][name] for name in STATES)


def peak(result):
    return result["peak_memory_bytes"]


def percent(share, digits=0):
    return f"{100 * share:.{digits}f} %"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def fsdp_halves_bert(desk):
    model = desk.model("bert-large.json", BERT_LARGE)
    usual = ("--precision", "fp16", "--software", "fsdp1")
    rows, results = [], {}
    for name, stage in (("DDP", 0), ("FSDP", 3)):
        plan = desk.plan(model, "v100-16gb-sxm2", 4, 64, 512, *usual, "--memory-limit", "64 GiB", data=4, zero=stage, reshard="true", microbatch=16, recompute="none", layers_per_unit=1)
        results[name] = one = desk.simulate(plan)
        rows.append((name, 16, f"{one['step_time_seconds'] * 1e3:.0f} ms", f"{states(one) / GIB:.2f} GiB", f"{peak(one) / GIB:.1f} GiB"))
    for name, stage in (("DDP", 0), ("FSDP", 3)):  # 16 GB, whatever microbatch is fastest
        free = desk.plan(model, "v100-16gb-sxm2", 4, 512, 512, *usual, data=4, zero=stage, recompute="none")
        one = results[name, "free"] = desk.simulate(free)
        samples = json.loads(free.read_text())["microbatch_size"]
        rows.append((f"{name}, batch 512, what fits 16 GB", samples, f"{one['step_time_seconds'] * 1e3:.0f} ms", f"{states(one) / GIB:.2f} GiB", f"{peak(one) / GIB:.1f} GiB"))
    speed = results["DDP"]["step_time_seconds"] / results["FSDP"]["step_time_seconds"]
    at_best = results["DDP", "free"]["step_time_seconds"] / results["FSDP", "free"]["step_time_seconds"]
    saved = 1 - states(results["FSDP"]) / states(results["DDP"])
    saved_in_all = 1 - peak(results["FSDP"]) / peak(results["DDP"])
    text = table(("4 x V100", "samples a rank", "step", "weights, gradients, states", "peak memory"), rows)
    return (f"at equal batch {speed:.2f} times the speed, states {percent(saved)} less, peak {percent(saved_in_all)} less; {at_best:.2f} times with the largest microbatches that fit",
            "not as written: the states shrink by 1 - 1/N; neither the activations nor the time do", text)


def zero_divides(desk):
    rows = []
    for ranks in (1, 2, 4, 8):
        row = [ranks]
        for stage in ((0,) if ranks == 1 else (0, 1, 2, 3)):
            plan = desk.plan("gpt2-xl", "a100-80gb-sxm", ranks, 8 * ranks, 1024, "--software", "deepspeed", data=ranks, zero=stage, microbatch=8, recompute="full", reshard="true")
            one = desk.simulate(plan)
            row.append(f"{states(one) / GIB:.1f} of {peak(one) / GIB:.1f} GiB")
        rows.append(row + ["", "", ""] if ranks == 1 else row)
    text = table(("ranks", "ZeRO 0: states of peak", "1", "2", "3"), rows)
    return ("states of a rank fall to 1/N at stage 3 alone; those of all ranks together stay what they were",
            "half: each stage divides another part, and activations, buffers and the gathered unit are not divided", text)


def cubes(desk):
    rows, one, shares = [], None, []
    for data, tensor, pipeline in ((1, 1, 1), (8, 1, 1), (1, 8, 1), (1, 1, 8), (2, 2, 2), (4, 4, 4)):
        devices = data * tensor * pipeline
        plan = desk.plan("opt-1.3b", "a100-80gb-sxm", devices, 128, 2048, "--software", "megatron-core", data=data, tensor=tensor, pipeline=pipeline, context=1)
        result = desk.simulate(plan)
        one = one or result["step_time_seconds"]
        speed = one / result["step_time_seconds"]
        shares.append(speed / devices)
        rows.append((f"{data} x {tensor} x {pipeline}", devices, f"{speed:.1f}", f"{percent(speed / devices)}", f"{percent(result['bubble_ratio'], 1)}", f"{percent(result['exposed_communication_ratio'], 1)}"))
    text = table(("D x M x P", "devices", "speed-up", "of D M P", "bubble", "exposed communication"), rows)
    return (f"{percent(min(shares))} to {percent(max(shares[1:]))} of D M P, at one global batch",
            "an upper bound: bubble, exposed communication and smaller products take the rest", text)


def two_phases(_):
    """Four ranks, a number a chunk: as the article writes both phases, and as they are."""
    held = [[10 * rank + chunk for chunk in range(4)] for rank in range(4)]
    whole = [sum(rank[chunk] for rank in held) for chunk in range(4)]
    as_written = [4 * one for one in whole]        # each rank holds every sum, and the "gather" adds the ranks' sums up again
    as_is = [whole[rank] for rank in range(4)]     # rank i is left with chunk i of the sum, and the gather puts them side by side
    text = table(("", "chunk 0", "1", "2", "3"), [("sum over ranks", *whole), ("as written", *as_written), ("reduce-scatter, all-gather", *as_is)])
    return (f"as written each chunk comes out {as_written[0] // whole[0]} times as large, with N = 4 ranks",
            "wrong as written: rank i gets chunk i of the sum, and the all-gather concatenates", text)


def recurrence(desk):
    """Of one backward pass: layer by layer what its computing and the sum of its gradients take, in the order of a trace."""
    model = desk.model("bert-large.json", BERT_LARGE)
    part = json.loads((ROOT / "profiles/hardware/v100-32gb-sxm2.json").read_text())
    part["inter_node"]["peak_bandwidth"] = "3.125 GB/s"  # 25 gigabit Ethernet: sums take longer than computing
    desk.path("slow.json").write_text(json.dumps(part))
    plan = desk.plan(model, desk.path("slow.json"), 32, 256, 512, "--precision", "fp16", "--software", "pytorch-ddp", data=32, zero=0, microbatch=8, recompute="none")
    trace = desk.path("ddp.json")
    desk.simulate(plan, "--timeline", trace)
    spans = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X" and event["pid"] == 0 and event["args"].get("key")]
    compute, network = {}, {}
    for span in spans:
        stage, chunk, microbatch, layer, phase = span["args"]["key"].split(".")[:5]
        if phase == "backward":
            compute[int(layer[1:])] = compute.get(int(layer[1:]), 0) + span["dur"]
        elif phase == "gradients":
            network[int(layer[1:])] = network.get(int(layer[1:]), 0) + span["dur"]
    order = sorted(compute, reverse=True)
    times = [(compute[layer] / 1e3, network.get(layer, 0) / 1e3) for layer in order]
    starts = [0.0, times[0][0]]
    for i in range(1, len(times)):
        starts.append(max(starts[i] + times[i][0], starts[i - 1] + times[i - 1][1]))
    written = starts[-1] + times[-1][1]
    ready = free = 0.0  # one queue a resource: a sum begins when its gradient is there and the network is free
    for tc, tn in times:
        ready += tc
        free = max(free, ready) + tn
    first = min(span["ts"] for span in spans if ".backward." in span["args"]["key"])
    last = max(span["ts"] + span["dur"] for span in spans if ".backward." in span["args"]["key"] or ".gradients." in span["args"]["key"])
    simulated = (last - first) / 1e3
    whole = json.loads(plan.read_text())  # in fp32: an infinity of fp16 would have to stop layers that are stepped already
    whole.pop("predictions", None)
    whole["workload"]["precision"] = "fp32"
    whole["accumulation"] = "reduce_last"
    whole["training"]["gradient_clip"] = 0
    steps = []
    for words in ({}, {"partition_size": "4 MiB", "credit_size": "16 MiB"}):
        desk.path("whole.json").write_text(json.dumps({**whole, **words}))
        steps.append(desk.simulate(desk.path("whole.json"))["step_time_seconds"] * 1e3)
    text = table(("32 x V100, 25 Gbit/s a node, BERT-Large: backward and sums", "ms"),
                 [("computing alone", f"{sum(tc for tc, _ in times):.0f}"), ("sums alone", f"{sum(tn for _, tn in times):.0f}"), ("the recurrence", f"{written:.0f}"),
                  ("each sum behind the one before it", f"{free:.0f}"), ("simulated", f"{simulated:.0f}"),
                  ("a step in fp32, bucket by bucket", f"{steps[0]:.0f}"), ("a step in fp32, by priority in parts of 4 MiB, credit 16 MiB", f"{steps[1]:.0f}")])
    return (f"{written:.0f} ms by the recurrence, {simulated:.0f} ms simulated",
            "a model of two resources that looks one layer back: it forgets sums that wait for each other; not ByteScheduler's algorithm, which reorders and cuts them", text)


def gpt3_for_months(desk):
    tokens, flops = 300e9, 3.14e23
    years = flops / 28e12 / 86400 / 365
    plan = desk.plan("gpt3-175b", "v100-32gb-sxm3", 1024, 1536, 2048, "--precision", "fp16", "--software", "megatron-lm-2021")
    result = desk.simulate(plan)
    months = [tokens / result["tokens_per_second"] * factor / 86400 / 30.4 for factor in
              (result["step_time_low_seconds"] / result["step_time_seconds"], 1, result["step_time_high_seconds"] / result["step_time_seconds"])]
    text = table(("1,024 x V100 of 32 GB, 300 B tokens", ""), [("plan", layout(plan)), ("tokens/s", f"{result['tokens_per_second']:,.0f}"), ("MFU", f"{percent(result['mfu_ratio'])}"),
                                                              ("months", f"{months[1]:.1f} ({months[0]:.1f} to {months[2]:.1f})"),
                                                              ("GPU-years by 3.14e23 FLOP at 28 TFLOP/s", f"{years:.0f}")])
    return (f"{years:.0f} GPU-years at the 28 TFLOP/s that were assumed; {months[1]:.1f} months on 1,024 V100 with today's plan",
            "holds" if months[0] > 4 else "holds at the 28 TFLOP/s that it assumes; plans of today reach more", text)


def thirteen_billion(desk):
    model = desk.model("gpt-13b.json", GPT_13B)
    usual = ("--precision", "fp16", "--software", "fsdp1")
    rows = []
    eight = desk.plan(model, "v100-32gb-sxm2", 8, 64, 2048, *usual, "--offload", tensor=1, pipeline=1, context=1, zero=3, recompute="full")
    result = desk.simulate(eight)
    rows.append(("8", "fully sharded" + (", states on the host" if json.loads(eight.read_text())["offload_optimizer"] else ""), f"{peak(result) / GIB:.1f} GiB",
                 f"{result['host_memory_bytes'] / GIB:.0f} GiB", f"{result['tokens_per_second']:,.0f}", "3,200"))
    one = desk.plan(model, "v100-32gb-sxm2", 1, 8, 2048, *usual)
    alone = desk.simulate(one)
    rows.append(("1", "weights, gradients and states on the host" if json.loads(one.read_text())["offload_parameters"] else "", f"{peak(alone) / GIB:.1f} GiB", f"{alone['host_memory_bytes'] / GIB:.0f} GiB", f"{alone['tokens_per_second']:,.0f}", "310"))
    text = table(("V100 of 32 GB", "how", "peak memory", "on the host of a node", "tokens/s", "fairseq's page says about"), rows)
    fits = result["fits"] and alone["fits"]
    return (f"{peak(result) / GIB:.0f} GiB on each of 8, {peak(alone) / GIB:.0f} GiB on one beside {alone['host_memory_bytes'] / GIB:.0f} GiB of its host",
            "holds: it fits, at a price" if fits else "not as simulated", text)


def trillions(desk):
    rows, least = [], None
    for devices in (128, 256, 512, 1024):
        plan = desk.plan("gpt-1t", "a100-80gb-sxm", devices, 2048, 2048, "--software", "fsdp1", "--risk", "50 %", tensor=1, pipeline=1, context=1, zero=3, recompute="full", microbatch=1,
                         reshard="true", layers_per_unit=1)
        if plan is None:
            rows.append((f"{devices:,}", "does not fit", "", "", ""))
            continue
        result = desk.simulate(plan)
        written = json.loads(plan.read_text())
        on_host = "weights, optimizer" if written.get("offload_parameters") else "optimizer" if written["offload_optimizer"] else ""
        least = least or (None if on_host else devices)
        rows.append((f"{devices:,}", f"{peak(result) / GIB:.1f} GiB", on_host, f"{result['step_time_seconds']:.0f} s", f"{percent(result['exposed_communication_ratio'])}"))
    text = table(("A100 of 80 GB", "peak memory, likelier to fit than not", "on the host", "step of 2,048 samples", "exposed communication"), rows)
    return (f"1 T parameters fit {least:,} devices, fully sharded alone" if least else "1 T parameters fit none of these",
            "holds for memory; the time is what it costs" if least else "not as simulated", text)


CLAIMS = {  # what an article says; who checks it
    "C1": ("BERT-Large with FSDP: more than twice the speed, 75 % less memory", fsdp_halves_bert),
    "C2": ("ZeRO: each device holds 1/N, \"total memory 1/N\"", zero_divides),
    "C3": ("Three-dimensional parallelism speeds up by D x M x P", cubes),
    "C4": ("All-reduce = reduce-scatter, in which each rank gets the sum, + all-gather, which sums over the ranks", two_phases),
    "C5": ("ByteScheduler: s(i+1) = max(s(i) + tc(i), s(i-1) + tn(i-1))", recurrence),
    "C6": ("GPT-3 takes 355 GPU-years; on 1,000 GPUs more than four months", gpt3_for_months),
    "C7": ("13 billion parameters train on 8 GPUs, or on one with offload", thirteen_billion),
    "C8": ("FSDP trains trillions of parameters", trillions),
}


def page(names):
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder)
        checked = {name: CLAIMS[name][1](desk) for name in names}
    rows = [(name, CLAIMS[name][0], found, verdict) for name, (found, verdict, _) in checked.items()]
    parts = [f"## {name}\n\n{CLAIMS[name][0]}: {verdict}.\n\n{text}" for name, (_, verdict, text) in checked.items()]
    return ("# What articles claim, checked\n\nMade by `examples/claims.py`: each claim planned and simulated, on profiles of published runs. Nothing here was measured.\n\n"
            + table(("", "claim", "found", "verdict"), rows) + "\n\n" + "\n\n".join(parts) + "\n")


def main():
    words = sys.argv[1:]
    names = [word for word in words if word in CLAIMS] or list(CLAIMS)
    if unknown := [word for word in words if word not in CLAIMS and word != "--print"]:
        raise SystemExit(f"no such claim: {' '.join(unknown)}; there are {' '.join(CLAIMS)}")
    if words:
        print(page(names), end="")
    else:
        PAGE.write_text(page(names))


if __name__ == "__main__":
    main()
