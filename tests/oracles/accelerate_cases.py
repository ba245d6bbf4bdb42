"""Random steps of Accelerate's FSDP 2 to ask about: small llamas, copies of shards, weights that stay, recomputation, accumulation, types."""
import random


def case(seed):
    draw = random.Random(120000 + seed)
    width, heads, replicas = draw.choice([32, 64]), draw.choice([4, 8]), draw.choice([1, 1, 2])
    return {"form": {"hidden": width * heads, "heads": heads, "kv_heads": draw.choice([heads, heads // 2]), "layers": draw.choice([2, 3, 4]),
                     "ffn": draw.choice([256, 512, 1024]), "vocabulary": draw.choice([512, 8192, 32000])},
            "sequence": draw.choice([128, 512, 1024]), "ranks": replicas * draw.choice([2, 4, 8]), "replicas": replicas, "microbatch": draw.choice([1, 2]),
            "microbatches": draw.choice([1, 2, 3]), "reshard": draw.random() < 0.7, "recompute": draw.choice(["none", "full"]),
            "precision": draw.choice(["bf16", "bf16", "fp32"])}
