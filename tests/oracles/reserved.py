"""What a plan of a case reserves on its device, replayed (tests/oracles/allocator_requests.cpp)."""
import json
import subprocess

from simulated import simulated, words_of

KINDS = ("segments", "expandable")


def reserved_by(program, requests, kept, kind):
    found = []

    def settle(plan):
        document = json.loads(plan.read_text())
        document["cluster"]["software"]["allocator"] = kind
        plan.write_text(json.dumps(document))
        found.append(int(subprocess.run([requests, "reserved", plan], text=True, stdout=subprocess.PIPE, check=True).stdout))

    simulated(program, kept["case"], words_of(kept["case"]), settle)
    return found[0]
