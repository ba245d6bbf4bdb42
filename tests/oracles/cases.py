"""Random steps of FSDP 2 to ask about: small shapes with the ratios of llamas, every degree of wrapping, recomputation and accumulation."""
import random


def mesh_case(seed):
    """The same with tensor ranks inside."""
    draw = random.Random(90000 + seed)
    drawn = case(5000 + seed)
    form = drawn["form"]
    tensor = draw.choice([2, 4, 8] if form["heads"] >= 8 else [2, 4])
    if form["kv_heads"] % tensor:
        form["kv_heads"] = form["heads"]
    return {**drawn, "ranks": draw.choice([2, 4]), "tensor": tensor}


def operator_case(seed):
    """Recomputed operator by operator."""
    return {**case(70000 + seed), "recompute": "op"}


def hybrid_case(seed):
    """Copies of shards; weights that stay cut over a few neighbours after the forward."""
    draw = random.Random(110000 + seed)
    drawn = case(9000 + seed)
    shards, replicas = draw.choice([2, 4, 8]), draw.choice([1, 2, 2, 4])
    near = draw.choice([each for each in (2, 4) if each < shards] or [1]) if replicas == 1 or draw.random() < 0.5 else 1
    return {**drawn, "ranks": shards * replicas, "replicas": replicas, "near": near, "reshard": near > 1 or drawn["reshard"]}


def data_case(seed):
    """Of DistributedDataParallel: computed for real, so smaller."""
    draw = random.Random(30000 + seed)
    drawn = case(30000 + seed)
    form = {**drawn["form"], "hidden": 32 * drawn["form"]["heads"], "layers": draw.choice([2, 3, 4]), "ffn": draw.choice([256, 512, 1024]),
            "vocabulary": draw.choice([512, 2048, 8192])}
    return {"form": form, "sequence": draw.choice([64, 128, 256]), "ranks": drawn["ranks"], "microbatch": draw.choice([1, 2]), "recompute": drawn["recompute"],
            "microbatches": drawn["microbatches"], "reduce_each": drawn["reduce_each"], "bucket_mib": draw.choice([1, 2, 4, 0])}   # 0: as DDP has it, 1 MiB first and then 25


def large_case(seed):
    """Sizes that people train, with fewer blocks: what an allocator of a GPU sees."""
    draw = random.Random(seed)
    heads, layers = draw.choice([8, 16, 32, 64]), draw.choice([4, 6, 8, 12, 16])
    return {"form": {"hidden": 128 * heads, "heads": heads, "kv_heads": draw.choice([heads, heads // 4, heads // 8]), "layers": layers,
                     "ffn": draw.choice([2816, 5632, 11008, 14336, 28672]), "vocabulary": draw.choice([32000, 50304, 128256, 151936])},
            "sequence": draw.choice([1024, 2048, 4096, 8192]), "ranks": draw.choice([2, 4, 8, 16, 64]), "microbatch": draw.choice([1, 2, 4]),
            "microbatches": draw.choice([1, 1, 2, 3]), "reshard": draw.random() < 0.7, "blocks_per_unit": draw.choice([1, 1, 2]),
            "recompute": draw.choice(["none", "full", "op"]), "reduce_each": draw.random() < 0.5}


def case(seed):
    draw = random.Random(seed)
    width, heads = draw.choice([32, 64, 128]), draw.choice([4, 8, 16])
    microbatches = draw.choice([1, 1, 2, 3])
    layers = draw.choice([2, 3, 4, 6])
    return {"form": {"hidden": width * heads, "heads": heads, "kv_heads": draw.choice([heads, heads // 2, heads // 4]), "layers": layers,
                     "ffn": draw.choice([256, 512, 1024, 2816, 5632]), "vocabulary": draw.choice([512, 8192, 32000, 128256])},
            "sequence": draw.choice([128, 512, 2048, 4096]), "ranks": draw.choice([2, 4, 8, 16]), "microbatch": draw.choice([1, 2, 4]),
            "microbatches": microbatches, "reshard": draw.random() < 0.7, "blocks_per_unit": draw.choice([1, 1, 2] if layers % 2 == 0 else [1]),
            "recompute": draw.choice(["none", "full"]), "reduce_each": draw.random() < 0.5}
