"""The functions of the package: what the command line does, with values in place of files and text."""
from __future__ import annotations

import contextlib
import os
from typing import Callable, Iterator, Mapping, Sequence

from . import _core

Path = str | os.PathLike[str]
Progress = Callable[[int, int, float], object]


@contextlib.contextmanager
def _followed(progress: bool | Progress | None, what: str) -> Iterator[Progress | None]:
    """A callable as it is; True: a bar of tqdm, or nothing where tqdm is not there."""
    if progress is not True:
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(desc=what, unit=" candidates") as bar:
        def show(done: int, all_: int, best: float) -> None:
            bar.total = all_ or None
            bar.update(done - bar.n)
            if best > 0:
                bar.set_postfix_str(f"best {best:.4g} s")
        yield show


def _model(model: Path) -> str:
    return _core.find_profile(os.fspath(model), ["models"])


def _plan(plan: _core.Plan | Path) -> _core.Plan:
    return plan if isinstance(plan, _core.Plan) else _core.Plan.load(os.fspath(plan))


def _said(fixed: Mapping[str, object] | Sequence[str] | None) -> list[str]:
    """As --fix takes it: "tp=8", "1F1B"."""
    if isinstance(fixed, Mapping):
        return [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in fixed.items()]
    return list(fixed or ())


def _variables(given: Mapping[str, object] | None) -> list[str]:
    return [f"{name}={value}" for name, value in (given or {}).items()]


def plan(model: Path, cluster: Path, *, global_batch: int, sequence: int, devices: int = 0, precision: str = "", optimizer: str = "adamw", software: Path = "",
         fixed: Mapping[str, object] | Sequence[str] | None = None, memory_limit: str = "", risk: str = "5 %", gap: str = "1 %", budget: str = "", top: int = 5, threads: int = 0,
         offload: bool = False, runnable: bool = False, program: str = "", adapters: str = "", frozen: str = "", fp32_gradients: bool = False, vocabulary_multiple: int = 128,
         samples: str = "", expert_loads: str = "", mtp_layers: int = 0, mtp_apart: bool = False, source_tokens: int = 0, front: bool = False, robust: bool = False,
         fewer: bool = False, objective: str = "step", tokens: float = 0, steps: int = 0, mtbf: str = "", restart_time: str = "10 min",
         checkpoint_time: str = "30 s", write_bandwidth: str = "", repair_time: str = "", spares: int = 0,
         learning_rate: float = 3e-4, checkpoint_interval: int = 0, seed: int = 1, progress: bool | Progress | None = None) -> _core.Ranking:
    """The fastest plans for a model on a cluster, proven best up to `gap`.

    model: a Hugging Face config.json, or the name of one that the package brings ("gpt2").
    cluster: a cluster file, or a hardware profile (a file or a name, "h100-80gb-sxm") with `devices`. 0 devices: as the cluster file says.
    global_batch: samples a step; sequence: tokens a sample.
    precision: "bf16", "fp8:blockwise weights=bf16"; empty: bf16 on GPUs, fp32 on CPUs. software: the program whose speed it is, a name or a file.
    adapters: pairs that are trained beside frozen weights; frozen: modules that are not trained ("embedding,norms", "first 8").
    samples: documents in them, "packed lognormal mean 800 spread 1.2"; empty: one fills each. expert_loads: how tokens meet experts,
    "untrained", "spread 0.6" or "list 310 120*2 275"; empty: as in measured runs. mtp_layers, source_tokens: of networks that have them;
    mtp_apart: MTP layers are one of their own in the pipeline's cut.
    fixed: settings that stay, by the names of Plan.fields() or as people say them: {"tensor": 4, "zero": 1}, ["tp=4", "1F1B", "zero3"].
    front: the Pareto front is proven as the best plans are. robust: ranked by the time that nine of ten steps stay below.
    memory_limit: of a device ("70 GiB"); risk: chance to run out of memory up to which plans compete.
    budget: time after which the search ends with what it has ("20 s"). threads: 0 takes all cores.
    offload: plans that use the host's memory compete. runnable: only plans that our worker performs; program: only those that this one performs ("megatron").
    fewer: fewer devices compete, too, in whole nodes. objective: "step" (its time), "cost" (in device time),
    "energy" (joules of a step) or "time-to-train" of the whole training of `tokens` or `steps`, on devices that fail every `mtbf` ("5.8 y"):
    restart_time, checkpoint_time or the storage's write_bandwidth ("40 GB/s"), repair_time of a failed node, up to `spares` nodes held back.
    progress: True for a bar of tqdm, or called with (candidates done, all, measure of the best plan, a step's seconds; 0: none yet).

    Ctrl-C ends the search. An empty Ranking: nothing is feasible, and its `excluded` says why. Raises InputError.
    """
    options: dict[str, object] = {
        "model": _model(model), "cluster": os.fspath(cluster), "devices": devices, "global_batch": global_batch, "sequence": sequence, "precision": precision,
        "optimizer": optimizer, "software": os.fspath(software), "memory_limit": memory_limit, "risk": risk, "gap": gap, "budget": budget, "top": top,
        "threads": threads, "offload": offload, "runnable": runnable, "fewer": fewer, "objective": objective, "tokens": tokens, "steps": steps, "mtbf": mtbf, "restart_time": restart_time,
        "checkpoint_time": checkpoint_time, "write_bandwidth": write_bandwidth, "repair_time": repair_time, "spares": spares, "program": program, "adapters": adapters, "frozen": frozen, "fp32_gradients": fp32_gradients,
        "vocabulary_multiple": vocabulary_multiple, "learning_rate": learning_rate, "checkpoint_interval": checkpoint_interval, "seed": seed,
        "samples": samples, "expert_loads": expert_loads, "mtp_layers": mtp_layers, "mtp_apart": mtp_apart, "source_tokens": source_tokens, "front": front, "robust": robust, "fixed": _said(fixed)}
    with _followed(progress, "plan") as told:
        return _core.plan(options, told)


def simulate(plan: _core.Plan | Path, *, timeline: bool = False, every_rank: bool = False, slow_ranks: Mapping[int, float] | None = None,
             slow_links: Mapping[str, float] | None = None, lost_links: Sequence[str] = ()) -> _core.Simulation:
    """One step of a plan: event by event, memory beside it. The same numbers on every machine.

    timeline: with its spans and memory. every_rank: one row a rank, where ranks that do the same share one otherwise.
    slow_ranks: {3: 1.5}, so many times slower; slow_links: {"uplink 0": 0.5}, the share that is left; lost_links: ["uplink 0"].
    Raises InputError: no such rank or link, a lost link that was the only way, a file that is no plan.
    """
    if not (timeline or every_rank or slow_ranks or slow_links or lost_links):   # a sweep: every microsecond counts
        return _core.simulate(_plan(plan))
    return _core.simulate(_plan(plan), timeline, every_rank, [f"{rank}={factor}" for rank, factor in (slow_ranks or {}).items()],
                          [f"{link}={factor}" for link, factor in (slow_links or {}).items()], list(lost_links))


def check(subject: Path, *, model: Path = "", cluster: Path = "", devices: int = 0, software: Path = "", recompute: str = "none",
          global_batch: int = 0, sequence: int = 0, microbatch: int = 0, vocabulary: int = 0, variables: Mapping[str, object] | None = None,
          memory_limit: str = "", risk: str = "5 %", fixed: Mapping[str, object] | Sequence[str] | None = None, prices: bool = False,
          budget: str = "20 s", against: Path = "", log: Path = "", objective: str = "step", tokens: float = 0, steps: int = 0, mtbf: str = "",
          restart_time: str = "10 min", checkpoint_time: str = "30 s", write_bandwidth: str = "", repair_time: str = "", spares: int = 0,
          progress: bool | Progress | None = None) -> _core.Check:
    """Whether a plan fits, what holds it back, and what one change would gain.

    subject: a plan file, a run folder, or a script or configuration of another program; of the last also `model`, `cluster` and `devices`, where it does not say them.
    recompute, global_batch, sequence, microbatch, vocabulary: where the file does not say it, 0: it does; variables: of a script that leaves them open.
    memory_limit, risk, progress: as of plan(); budget: of the search; fixed: what changes keep to. prices: also what more memory, network, devices or
    batch would give, a search each. against: an earlier one, for what changed since.
    log: of the job that runs it (Megatron-LM, NeMo, DeepSpeed, nanotron, torchtitan, Accelerate), which corrects the prices first.
    objective, and what stands behind it: as of plan(); `measure` of a change is in its unit.
    Ctrl-C ends it. Raises InputError.
    """
    options: dict[str, object] = {
        "subject": os.fspath(subject), "model": os.fspath(model), "cluster": os.fspath(cluster), "devices": devices, "software": os.fspath(software),
        "recompute": recompute, "global_batch": global_batch, "sequence": sequence, "microbatch": microbatch, "vocabulary": vocabulary, "variables": _variables(variables),
        "fixed": _said(fixed), "prices": prices, "memory_limit": memory_limit, "risk": risk, "budget": budget, "against": os.fspath(against), "log": os.fspath(log), "objective": objective,
        "tokens": tokens, "steps": steps, "mtbf": mtbf, "restart_time": restart_time, "checkpoint_time": checkpoint_time, "write_bandwidth": write_bandwidth,
        "repair_time": repair_time, "spares": spares}
    with _followed(progress, "check") as told:
        return _core.check(options, told)


def diff(before: Path, now: Path, *, model: Path = "", cluster: Path = "", devices: int = 0, software: Path = "", recompute: str = "none",
         global_batch: int = 0, sequence: int = 0, microbatch: int = 0, vocabulary: int = 0, variables: Mapping[str, object] | None = None) -> _core.Difference:
    """Two plans, in whatever form check() takes them: the settings that differ, time and memory by cause. What neither file says is given as of check().

    Raises InputError.
    """
    return _core.diff(os.fspath(before), os.fspath(now), {
        "model": os.fspath(model), "cluster": os.fspath(cluster), "devices": devices, "software": os.fspath(software), "recompute": recompute,
        "global_batch": global_batch, "sequence": sequence, "microbatch": microbatch, "vocabulary": vocabulary, "variables": _variables(variables)})


def compare(run: Path, *, cluster: Path = "", warm_up: int = 1) -> _core.Comparison:
    """A recorded run (the folder that `meshwright run` wrote) beside the simulation of its plan, joined task by task.

    cluster: priced by it instead of the plan's own. warm_up: measured steps to leave out. Raises InputError: no run, traces of other plans, no step left.
    """
    return _core.compare(os.fspath(run), os.fspath(cluster), warm_up)


def calibrate(runs: Sequence[Path], cluster: Path) -> _core.HardwareProfile:
    """The hardware profile corrected by recorded runs: per kind of task the median of measured / priced. Save it with save(path). Raises InputError."""
    return _core.calibrate([os.fspath(run) for run in runs], os.fspath(cluster))


def validate(rows: Path, *, leave_out_each: bool = False) -> _core.Validation:
    """Published, measured runs predicted, and the score. rows: a file like published/rows.json of the profiles.

    leave_out_each: each source predicted with constants fitted without it (minutes). Raises InputError where the file is none; a row that contradicts itself has
    an `error`.
    """
    return _core.validate(os.fspath(rows), leave_out_each)
