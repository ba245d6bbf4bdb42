"""How tensor ranks cut a llama: as torchtitan's plan has it (sequence parallel, loss parallel)."""
from functools import partial

from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module


def cut(model, mesh):
    parallel = partial(parallelize_module, device_mesh=mesh, src_data_rank=None)
    whole, rows = Replicate(), Shard(1)
    parallel(model, parallelize_plan={"tok_embeddings": RowwiseParallel(input_layouts=whole, output_layouts=rows), "norm": SequenceParallel(),
                                      "output": ColwiseParallel(input_layouts=rows, output_layouts=Shard(-1), use_local_output=False)})
    for block in model.layers.values():
        parallel(block, parallelize_plan={
            "attention_norm": SequenceParallel(), "ffn_norm": SequenceParallel(),
            "attention": PrepareModuleInput(input_layouts=(rows, None), desired_input_layouts=(whole, None)),
            "attention.wq": ColwiseParallel(), "attention.wk": ColwiseParallel(), "attention.wv": ColwiseParallel(),
            "attention.wo": RowwiseParallel(output_layouts=rows),
            "feed_forward": PrepareModuleInput(input_layouts=(rows,), desired_input_layouts=(whole,)),
            "feed_forward.w1": ColwiseParallel(), "feed_forward.w3": ColwiseParallel(), "feed_forward.w2": RowwiseParallel(output_layouts=rows)})
