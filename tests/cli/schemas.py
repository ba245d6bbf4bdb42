"""Holds documents against their JSON schemas, strictly: what a reader may ignore, a writer must have said. Used by program.py; without the package
python3-jsonschema (cmake/setup.sh tests brings it) nothing is judged, and judges() says so.
"""
import functools
import json
import pathlib

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ("cli/documents.schema.json", "sim/plan/plan.schema.json", "sim/cluster/hardware.schema.json", "sim/cluster/cluster.schema.json")
OF_FILES = {"meshwright.plan/1": FILES[1], "meshwright.hardware/1": FILES[2], "meshwright.hardware/2": FILES[2], "meshwright.cluster/1": FILES[3]}


def judges():
    return jsonschema is not None


def closed(schema):
    """The schema without room for keys that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed_ = {key: closed(part) for key, part in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        closed_.setdefault("additionalProperties", False)
    return closed_


@functools.lru_cache(maxsize=None)
def read(name):
    return json.loads((ROOT / name).read_text())


@functools.lru_cache(maxsize=None)
def validator(format_):
    """Of a document that says this format; None: no schema speaks of it."""
    if format_ in OF_FILES:
        schema = closed(read(OF_FILES[format_]))
        if format_ == "meshwright.cluster/1":
            schema["properties"]["hardware"] = {}   # a profile in full, or its name: judged where it stands by itself
        return jsonschema.Draft202012Validator(schema)
    whole = closed(read(FILES[0]))
    name = f"{format_.split('.')[-1].split('/')[0]}_document"
    if name not in whole["$defs"]:
        return None
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]})


def faults(document):
    """What is wrong with it, in words; a document of ours without a schema is wrong, too."""
    format_ = document.get("format", "")
    if not judges() or not format_.startswith("meshwright."):
        return []
    judge = validator(format_)
    if judge is None:
        return [f"{format_} has no schema"]
    return [f"{format_}: {error.json_path}: {error.message[:300]}" for error in judge.iter_errors(document)]
