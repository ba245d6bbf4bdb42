"""What is run on a card, and what stands in for it in a rehearsal: the same phases on this machine's processor, small."""
import dataclasses

from phases import reference

GPT, LLAMA = reference.GPT, reference.LLAMA


@dataclasses.dataclass
class Device:
    name: str                  # --device
    models: dict               # name -> (config, samples, sequence, steps): of --speed
    plans: dict                # name -> (config, (samples, sequence, steps), fixed axes): of --measure
    share_of_tests: dict       # environment


def plans_of(config, samples, sequence, steps):
    """One microbatch, two, and one with everything computed again."""
    return {"one microbatch": (config, (samples, sequence, steps), [f"microbatch={samples}", "recompute=none"]),
            "two microbatches": (config, (samples, sequence, steps), [f"microbatch={samples // 2}", "recompute=none"]),
            "recomputed": (config, (samples, sequence, steps), [f"microbatch={samples}", "recompute=full"])}


def all_plans(models):
    """The same of every model before the next: where the time ends early, each has been looked at."""
    plans = {f"{name}, {what}": (at, plan) for name, model in models.items() for at, (what, plan) in enumerate(plans_of(*model).items())}
    return {name: plan for name, (_, plan) in sorted(plans.items(), key=lambda entry: entry[1][0])}


CARD = Device("cuda", reference.ON_GPU, all_plans({name: (*case[:3], 12) for name, case in reference.ON_GPU.items()}), {})
REHEARSAL = Device("cpu", reference.ON_CPU, {name: plan for name, plan in all_plans(reference.ON_CPU).items() if "two" in name},
                   {"GTEST_TOTAL_SHARDS": "24", "GTEST_SHARD_INDEX": "0"})
# The tests that do on a CPU what those labelled gpu do on a card: emulated thread blocks, the checked device, the fake NCCL.
REHEARSED_TESTS = "^(emulated_cuda_kernels_test_forward|executor_training_test|parity_device_2_ranks)$"
# Beside a share of each: what no card has seen yet, NCCL and graphs of steps, as far as it ends in half a minute.
REHEARSED_BESIDE = {"executor_training_test": "StepGraph.*:NcclTraining.A*:NcclTraining.GraphsHoldSumsOfDataRanks"}
