"""What a simulated step of a case reserves on its device."""
import json

from simulated import simulated, words_of

KINDS = ("segments", "expandable")


def reserved_by(program, kept, kind):
    def settle(plan):
        document = json.loads(plan.read_text())
        document["cluster"]["software"]["allocator"] = kind
        plan.write_text(json.dumps(document))

    device = simulated(program, kept["case"], words_of(kept["case"]), settle)[0]["devices"][0]
    return device["peak_memory_bytes"] + device["pool_estimated_bytes"]
