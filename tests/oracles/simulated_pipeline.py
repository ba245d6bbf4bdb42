"""The same pipeline by Meshwright: what each stage has at its fullest, and its sends and receives in the order in which they are issued."""
import json

from pipeline_cases import NAMED, SCHEDULES
from simulated import simulated, words


def words_of(case):
    fixed = {"pipeline": case["pipeline"], "chunks": case["chunks"], "schedule": NAMED.get(case["schedule"], "interleaved"), "zero": 3, "replicas": 1,
             "reshard": str(case["reshard"]).lower(), "reshard_ranks": 1, "layers_per_unit": 1, "accumulation": "reduce_last"}
    return words(case, fixed, "bf16 gradients=fp32")


def settle(plan, kept, named=NAMED):
    """Equal parts, and where a plan has no word for it, torch's own order."""
    case = kept["case"]
    parts = case["pipeline"] * case["chunks"]
    said = {"cut": [0, *(1 + index * case["form"]["layers"] // parts for index in range(1, parts))]}
    if case["schedule"] in named:
        said["schedule"] = named[case["schedule"]]
    else:
        said |= {"schedule": "csv", "order": kept["order"]}
    plan.write_text(json.dumps({**json.loads(plan.read_text()), **said}))


def stage_of(case, rank, chunk):
    comes_up = SCHEDULES[case["schedule"]][2] and chunk % 2 == 1
    return chunk * case["pipeline"] + (case["pipeline"] - 1 - rank if comes_up else rank)


def name_of(case, rank, task):
    kind = ">" if task[5] == "send" else "<"
    return f"{task[4][0].upper()}{kind}{stage_of(case, rank, int(task[1][1:]))}.{int(task[2][1:])}"


def of_rank(case, rank, device, rows):
    tasks = [(row["task"].split("."), int(row["bytes"])) for row in rows if int(row["stage"]) == rank]
    messages = [(name_of(case, rank, task), size) for task, size in tasks if task[6] == "pipeline" and task[4] in ("forward", "backward")]
    return {"peak": device["peak_memory_bytes"], "parts": device["memory_at_peak_bytes"], "messages": " ".join(name for name, _ in messages),
            "message_bytes": sorted({size for _, size in messages}),
            "collectives": [[task[5], size] for task, size in tasks if task[5] in ("all_gather", "reduce_scatter")]}


def simulate_pipeline(program, kept):
    case = kept["case"]
    result, rows = simulated(program, case, words_of(case), lambda plan: settle(plan, kept))
    if case["schedule"] == "dualpipev":   # whose whole backwards no table of halves tells from two: the plan's own word does, though it has pairs the other way round
        result, _ = simulated(program, case, words_of(case), lambda plan: settle(plan, kept, {"dualpipev": "dualpipev"}))
    return [of_rank(case, rank, device, rows) for rank, device in enumerate(result["devices"])]
