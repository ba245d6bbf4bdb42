"""Random engines to ask about: ZeRO 0 to 3 in bf16 and fp32, numbers of ranks that divide nothing."""
import random


def case(seed):
    draw = random.Random(60000 + seed)
    width, heads, ranks = draw.choice([16, 32]), draw.choice([4, 8]), draw.choice([2, 3, 4, 6, 8])
    rank, stage = draw.choice([0, ranks - 1]), seed % 4   # of stage 3 all parts are alike, and rank 0 alone asks no other for its numbers
    return {"form": {"hidden": width * heads, "heads": heads, "kv_heads": draw.choice([heads, heads // 2]), "layers": draw.choice([1, 2, 3]),
                     "ffn": draw.choice([200, 344, 512]), "vocabulary": draw.choice([512, 1003, 4096])},
            "sequence": 16, "ranks": ranks, "rank": 0 if stage == 3 else rank, "microbatch": 1, "microbatches": draw.choice([1, 2]), "zero": stage,
            "precision": draw.choice(["bf16", "bf16", "fp32"])}
