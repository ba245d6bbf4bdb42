"""Random pipelines to ask about: every schedule of torch.distributed.pipelining over FSDP 2, of small llamas."""
import random

# -> (torch's class, chunks, whether every second chunk comes up again)
SCHEDULES = {"gpipe": ("GPipe", (1,), False), "1f1b": ("1F1B", (1,), False), "interleaved": ("Interleaved1F1B", (2, 3), False),
             "looped_bfs": ("LoopedBFS", (2, 3), False), "zero_bubble": ("InterleavedZeroBubble", (2, 3), False), "zbv": ("ZBVZeroBubble", (2,), True), "dualpipev": ("DualPipeV", (2,), True)}
NAMED = {"gpipe": "gpipe", "1f1b": "1f1b", "interleaved": "interleaved"}   # in a plan; of the others torch's order is taken as CSV
SPLITS = ("zero_bubble", "zbv", "dualpipev")   # backward in two halves


def case(seed):
    draw = random.Random(50000 + seed)
    schedule = list(SCHEDULES)[seed % len(SCHEDULES)]
    chunks, pipeline = draw.choice(SCHEDULES[schedule][1]), draw.choice([2, 2, 3])
    width, heads = draw.choice([32, 64]), draw.choice([4, 8])
    microbatches = pipeline * draw.choice([1, 2, 3]) if schedule in ("interleaved", "zero_bubble") else draw.randint(2 * pipeline, 3 * pipeline)
    return {"form": {"hidden": width * heads, "heads": heads, "kv_heads": draw.choice([heads, heads // 2]), "layers": pipeline * chunks * draw.choice([1, 1, 2] if chunks == 1 else [1]),
                     "ffn": draw.choice([256, 512, 1024]), "vocabulary": draw.choice([512, 8192, 32000])},
            "sequence": draw.choice([128, 512, 1024]), "ranks": draw.choice([2, 4]), "microbatch": draw.choice([1, 2]), "microbatches": microbatches,
            "recompute": "none" if schedule in SPLITS else draw.choice(["none", "none", "full"]), "pipeline": pipeline, "chunks": chunks, "schedule": schedule, "reshard": False,
            "returns": True}
