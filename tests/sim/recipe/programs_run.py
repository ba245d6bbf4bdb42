"""Trains a tiny network by what is exported, on ranks of this machine over gloo: PyTorch's pipeline runtime performs the order, and gradients are one process's.

    programs_run.py csv FOLDER RANKS

Prints one line of JSON as programs_judge.py does.
"""
import datetime
import json
import logging
import os
import pathlib
import socket
import sys

logging.disable(logging.CRITICAL)
WIDTH = 16


GROUPS = {}


def csv(place, expected, rank, ranks):
    import torch
    from torch.distributed.pipelining import PipelineStage, schedules
    stages, microbatches = expected["pipeline"] * expected["chunks"], expected["microbatches"]
    if rank >= expected["pipeline"]:
        return {}
    rows = (place / "pipeline_order.csv").read_text().splitlines()
    mine = sorted({int("".join(iter_digits(word))) for word in rows[rank].split(",") if word})
    layer = lambda stage: torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH, dtype=torch.float64), torch.nn.Tanh())
    layers = []
    for stage in range(stages):
        torch.manual_seed(stage)
        layers.append(layer(stage))
    torch.manual_seed(99)
    samples, target = torch.randn(2, microbatches, WIDTH, dtype=torch.float64)
    whole = torch.nn.Sequential(*layers)
    loss_of = lambda output, wanted: (output - wanted).pow(2).sum()
    loss_of(whole(samples), target).backward()
    wanted = [[one.grad.clone() for one in layers[stage].parameters()] for stage in mine]
    whole.zero_grad()
    shape = torch.zeros(1, WIDTH, dtype=torch.float64)
    held = [PipelineStage(layers[stage], stage, stages, torch.device("cpu"), input_args=(shape.clone().requires_grad_(stage > 0),), output_args=(layers[stage](shape),),
                          group=GROUPS[expected["pipeline"]]) for stage in mine]
    for one in held:  # warms NCCL up by a message to each neighbour, itself included, which gloo has not
        one._get_init_p2p_neighbors_ops = lambda: []
    runtime = schedules._PipelineScheduleRuntime(held, microbatches, loss_fn=loss_of, scale_grads=False)
    runtime._load_csv(str(place / "pipeline_order.csv"))
    runtime.step(*([samples] if 0 in mine else []), **({"target": target, "losses": []} if stages - 1 in mine else {}))
    for stage, gradients in zip(mine, wanted):
        for ours, theirs in zip(layers[stage].parameters(), gradients):
            assert ours.grad is not None and torch.allclose(ours.grad, theirs, rtol=1e-9), f"gradients of stage {stage} differ from one process's"
    return {"microbatches": microbatches, "chunks": len(mine)}


def iter_digits(word):
    for letter in word:
        if not letter.isdigit():
            return
        yield letter


def begun(rank, ranks, port):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
    import torch
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=120))
    GROUPS.update({size: torch.distributed.new_group(list(range(size))) for size in (2, 4) if size <= ranks})
    return torch


def work(rank, program, folder, ranks, port):
    torch = begun(rank, ranks, port)
    found = {"recipes": 0, "accepted": 0, "faults": []}
    for place in sorted(pathlib.Path(folder).iterdir(), key=lambda one: int(one.name)):
        expected = json.loads((place / "expected.json").read_text())
        try:
            read = globals()[program](place, expected, rank, ranks)
            faults = [f"{key}: {value!r} there, {expected[key]!r} in the plan" for key, value in read.items() if value != expected[key]]
        except (Exception, SystemExit) as error:
            faults = [f"{type(error).__name__}: {str(error)[:300]}"]
        of_all = [None] * ranks
        torch.distributed.all_gather_object(of_all, faults)
        faults = [f"{program} {place.name}, rank {at}: {fault}" for at, one in enumerate(of_all) for fault in one]
        found["recipes"] += 1
        found["accepted"] += not faults
        found["faults"] += faults
    if rank == 0:
        print("\n" + json.dumps(found), flush=True)
    torch.distributed.destroy_process_group()


def main(program, folder, ranks):
    import torch.multiprocessing
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    torch.multiprocessing.spawn(work, args=(program, folder, int(ranks), port), nprocs=int(ranks))


if __name__ == "__main__":
    main(*sys.argv[1:])
