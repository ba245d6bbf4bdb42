"""Runs what is exported on ranks of this machine over gloo, a tiny network each: DeepSpeed's engine, Accelerate's FSDP and DDP, PyTorch's pipeline runtime.

    programs_run.py deepspeed|accelerate|csv FOLDER RANKS

Prints one line of JSON as programs_judge.py does, with "left_out": what no CPU can run, by reason.
"""
import collections
import datetime
import json
import logging
import os
import pathlib
import socket
import sys

logging.disable(logging.CRITICAL)
WIDTH = 16


class LeftOut(Exception):
    """No processor of this kind runs it."""


def network(torch, seed=1):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH))


def batch_of(torch, expected):
    torch.manual_seed(7)
    return torch.randn(expected["global_batch"], WIDTH)


def one_process(torch, expected, clip, made):
    """The first layer's weights after one step on the whole batch, by PyTorch alone."""
    net = network(torch)
    optimizer = made(net.parameters())
    net(batch_of(torch, expected)).pow(2).mean().backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
    optimizer.step()
    return [one.detach() for one in net.parameters()]


def close(torch, ours, theirs, precision):
    """A step of AdamW moves a weight by its rate, whatever the gradient: in bf16 few may go the other way."""
    moved = [(one.float() - other).abs().max().item() for one, other in zip(ours, theirs)]
    assert max(moved) <= (2e-5 if precision == "fp32" else 8e-3), f"weights after a step differ by {max(moved):.2e} from one process's"


def deepspeed(place, expected, rank, ranks):
    import torch
    import deepspeed as program
    if expected["precision"] == "fp16":
        raise LeftOut("fp16")
    if expected["tensor"] * expected["context"] > 1:
        raise LeftOut("tensor and context degrees, which need the program's own networks")
    config = json.loads((place / "ds_config.json").read_text())
    words = config["optimizer"]["params"]
    if expected["optimizer"] == "adamw":
        words["torch_adam"] = True  # its own kernel needs a compiler
    engine, optimizer, _, _ = program.initialize(model=(net := network(torch)), model_parameters=list(net.parameters()), config=config)
    whole = sum(one.numel() for one in network(torch).parameters())
    kept = sum(getattr(one, "ds_tensor", one).numel() for one in engine.module.parameters())
    assert kept <= (whole / ranks + ranks * 8 if expected["stage"] == 3 else whole), f"{kept} of {whole} weights on a rank"
    numbers = next(engine.module.parameters()).dtype
    mine = batch_of(torch, expected).chunk(ranks)[rank].to(numbers).split(expected["microbatch"])
    for at, part in enumerate(mine):
        assert engine.global_steps == 0, f"stepped after {at} of {len(mine)} microbatches"
        engine.backward(engine(part).float().pow(2).mean())
        engine.step()
    assert engine.global_steps == 1, "no step after the last microbatch"
    with program.zero.GatheredParameters(list(engine.module.parameters()), enabled=expected["stage"] == 3):
        after = [one.detach().clone() for one in engine.module.parameters()]
    made = {"adamw": lambda weights: torch.optim.AdamW(weights, lr=words["lr"], betas=words.get("betas"), eps=words.get("eps"), weight_decay=words["weight_decay"]),
            "sgd": lambda weights: torch.optim.SGD(weights, lr=words["lr"], weight_decay=words.get("weight_decay", 0), momentum=words.get("momentum", 0))}[expected["optimizer"]]
    close(torch, after, one_process(torch, expected, config["gradient_clipping"], made), expected["precision"])
    types = {torch.float32: "fp32", torch.bfloat16: "bf16"}
    return {"global_batch": engine.train_batch_size(), "microbatch": engine.train_micro_batch_size_per_gpu(), "microbatches": engine.gradient_accumulation_steps(),
            "stage": engine.zero_optimization_stage(), "precision": types[numbers]}


def accelerate(place, expected, rank, ranks):
    import torch
    from accelerate import Accelerator, DistributedType
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.state import AcceleratorState, GradientState, PartialState
    from accelerate.utils.launch import prepare_multi_gpu_env
    if expected["precision"] == "fp16":
        raise LeftOut("fp16")
    if expected["tensor"] * expected["context"] > 1:
        raise LeftOut("tensor and context degrees, which need a network of Transformers")
    torch.cuda.is_available, torch.cuda.device_count = (lambda: True), (lambda: ranks)
    args, _, _ = _validate_launch_command(launch_command_parser().parse_args(["--config_file", str(place / "accelerate.yaml"), "train.py"]))
    torch.cuda.is_available = lambda: False
    if args.use_deepspeed:
        raise LeftOut("ZeRO-1 and 2, which are DeepSpeed's, whose own recipes run")
    before = dict(os.environ)
    os.environ.update({name: value for name, value in prepare_multi_gpu_env(args).items() if name.startswith(("ACCELERATE", "FSDP", "PARALLELISM"))})
    for state in (AcceleratorState, PartialState, GradientState):
        state._shared_state.clear()
    PartialState(cpu=True)
    if args.use_fsdp:  # it shards on accelerators alone, by this word; the rest is the same on CPU
        PartialState._shared_state["distributed_type"] = DistributedType.MULTI_GPU
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=expected["microbatches"])
    if args.use_fsdp and expected["offload_optimizer"]:  # a GPU's driver pins what goes to the host; the rest is the same on CPU
        accelerator.state.fsdp_plugin.cpu_offload = torch.distributed.fsdp.CPUOffloadPolicy(pin_memory=False)
    net = network(torch)
    net._no_split_modules = ["Linear"]
    rates = {"adamw": lambda weights: torch.optim.AdamW(weights, lr=1e-3), "sgd": lambda weights: torch.optim.SGD(weights, lr=1e-3)}[expected["optimizer"]]
    model, optimizer = accelerator.prepare(net, rates(net.parameters()))
    whole = sum(one.numel() for one in network(torch).parameters())
    local = [one.to_local() if hasattr(one, "to_local") else one for one in model.parameters()]
    kept = sum(one.numel() for one in local)
    assert kept <= (whole / ranks + 8 if expected["stage"] == 3 else whole), f"{kept} of {whole} weights on a rank"
    for part in batch_of(torch, expected).chunk(ranks)[rank].split(expected["microbatch"]):
        with accelerator.accumulate(model):
            with accelerator.autocast():
                loss = model(part).float().pow(2).mean()
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    assert accelerator.sync_gradients, "no step after the last microbatch"
    after = [one.detach().full_tensor() if hasattr(one, "full_tensor") else one.detach() for one in model.parameters()]
    close(torch, after, one_process(torch, expected, 1.0, rates), expected["precision"])
    os.environ.clear()
    os.environ.update(before)
    return {"precision": {"no": "fp32"}.get(accelerator.mixed_precision, accelerator.mixed_precision), "microbatches": accelerator.gradient_accumulation_steps,
            "stage": 3 if accelerator.distributed_type == DistributedType.FSDP else expected["stage"]}


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


def begun(program, rank, ranks, port):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), DS_ACCELERATOR="cpu", OMP_NUM_THREADS="1")
    import torch
    torch.set_num_threads(1)
    if program == "deepspeed":
        import deepspeed.comm  # noqa: F401
        sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # a faster transport, which needs a compiler
        import deepspeed as package
        package.init_distributed(dist_backend="gloo", auto_mpi_discovery=False, timeout=datetime.timedelta(seconds=120))
    else:
        torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=120))
        GROUPS.update({size: torch.distributed.new_group(list(range(size))) for size in (2, 4) if size <= ranks})
    return torch


def work(rank, program, folder, ranks, port):
    torch = begun(program, rank, ranks, port)
    found = {"recipes": 0, "accepted": 0, "faults": [], "left_out": collections.Counter()}
    for place in sorted(pathlib.Path(folder).iterdir(), key=lambda one: int(one.name)):
        expected = json.loads((place / "expected.json").read_text())
        try:
            read = globals()[program](place, expected, rank, ranks)
            faults = [f"{key}: {value!r} there, {expected[key]!r} in the plan" for key, value in read.items() if value != expected[key]]
        except LeftOut as reason:
            found["left_out"][str(reason)] += 1
            continue
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
    torch.distributed.barrier()  # a rank that leaves first takes gloo's connections from those still at work
    GROUPS.clear()  # a group that outlives the end of Python has threads that nobody joins
    torch.distributed.destroy_process_group()


def main(program, folder, ranks):
    import torch.multiprocessing
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    torch.multiprocessing.spawn(work, args=(program, folder, int(ranks), port), nprocs=int(ranks))


if __name__ == "__main__":
    main(*sys.argv[1:])
