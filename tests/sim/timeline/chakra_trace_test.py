"""Chakra execution traces by the rules of their schema alone (et_def.proto): fields and their types, what each node waits for, messages that meet, groups.

usage: chakra_trace_test.py PROGRAM
"""
import json
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import perfetto_file
import program

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
NODE = {1: int, 2: bytes, 3: int, 4: int, 5: int, 6: int, 7: int, 10: bytes}   # field -> what stands there
ATTRIBUTE = {1: bytes, 7: int, 9: int, 27: int, 29: bytes}
KINDS = {"all_reduce": 0, "all_gather": 2, "all_to_all": 6, "reduce_scatter": 7}


def messages(data):
    """Each stands behind its length."""
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at, size, shift = at + 1, size | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                break
        assert at + size <= len(data), "cut"
        yield data[at:at + size]
        at += size


def typed(data, types):
    found = perfetto_file.fields(data)
    for number, values in found.items():
        assert all(isinstance(value, types[number]) for value in values), number   # an unknown field is a KeyError
    return found


def read(path):
    first, *rest = messages(path.read_bytes())
    assert perfetto_file.fields(first)[1] == [b"0.0.4"]
    nodes = {}
    for data in rest:
        fields = typed(data, NODE)
        attributes = {}
        for attribute in (typed(value, ATTRIBUTE) for value in fields[10]):
            value, = [values[0] for number, values in attribute.items() if number != 1]
            attributes[attribute[1][0].decode()] = value
        number = fields.get(1, [0])[0]
        assert number not in nodes
        nodes[number] = {"name": fields[2][0].decode(), "type": fields[3][0], "waits": fields[4] + fields[5], "start": fields[6][0], "takes": fields[7][0], **attributes}
    return nodes


class Chakra(program.ProgramTest):
    def traces(self, *more):
        plan = self.make_plan(*more)
        self.run_program("simulate", plan, "--chakra", self.folder / "step")
        groups = json.loads((self.folder / "step.groups.json").read_text())
        return [read(self.folder / f"step.{rank}.et") for rank in range(4)], groups, plan

    def test_waits_name_nodes_before(self):
        for nodes in self.traces("--fix", "pipeline=2", "--fix", "tensor=2")[0]:
            seen = set()
            for number, node in nodes.items():
                self.assertLessEqual(set(node["waits"]) & set(nodes), seen, node["name"])
                self.assertLessEqual(set(node["waits"]), set(nodes))
                seen.add(number)
            self.assertGreater(sum(bool(node["waits"]) for node in nodes.values()), len(nodes) / 2)

    def test_sends_meet_receives(self):
        traces = self.traces("--fix", "pipeline=2", "--fix", "schedule=interleaved")[0]
        ends = {kind: sorted((node["comm_src"], node["comm_dst"], node["comm_tag"], node["comm_size"]) for nodes in traces for node in nodes.values() if node["type"] == kind)
                for kind in (SEND, RECEIVE)}
        self.assertTrue(ends[SEND])
        self.assertEqual(ends[SEND], ends[RECEIVE])
        self.assertEqual(len(set(ends[SEND])), len(ends[SEND]))

    def test_collectives_are_of_groups_whose_members_all_have_them(self):
        traces, groups, _ = self.traces("--fix", "zero=3", "--fix", "tensor=2")
        of_rank = [[(node["pg_name"].decode(), node["comm_type"], node["comm_size"]) for node in nodes.values() if node["type"] == COLLECTIVE] for nodes in traces]
        for name, ranks in groups.items():
            mine = [[one for one in of_rank[rank] if one[0] == name] for rank in ranks]
            self.assertTrue(mine[0])
            self.assertTrue(all(one == mine[0] for one in mine))
        for nodes in traces:
            for node in nodes.values():
                if node["type"] == COLLECTIVE:
                    self.assertEqual(node["comm_type"], KINDS[node["name"].split(".")[5]])

    def test_it_is_the_step(self):
        traces, _, plan = self.traces()
        step = self.document("simulate", plan)["result"]["step_time_seconds"]
        end = max(node["start"] + node["takes"] for nodes in traces for node in nodes.values())
        self.assertAlmostEqual(end, step * 1e6, delta=1)

    def test_a_measured_step_has_the_same_form(self):
        folder = program.ROOT / "tests" / "cli" / "written_before" / "run"
        text = self.run_program("compare", folder, "--chakra", self.folder / "measured").stdout
        step = int(re.search(r"Chakra traces of the measured step (\d+)", text).group(1))
        traces = [read(self.folder / f"measured.{rank}.et") for rank in range(2)]
        for rank, nodes in enumerate(traces):
            events = [event["args"] | event for event in json.loads((folder / f"trace.{rank}.json").read_text())["traceEvents"] if event["ph"] == "X" and "key" in event["args"]]
            took = {event["key"]: event["dur"] for event in events if event["step"] == step}
            self.assertEqual({node["name"] for node in nodes.values()}, set(took))
            for node in nodes.values():
                self.assertAlmostEqual(node["takes"], took[node["name"]], delta=1)
                self.assertLessEqual(set(node["waits"]), set(nodes))
            self.assertGreater(sum(bool(node["waits"]) for node in nodes.values()), len(nodes) / 2)
        self.assertEqual(len(json.loads((self.folder / "measured.groups.json").read_text()).values()), len({node["pg_name"] for nodes in traces for node in nodes.values() if "pg_name" in node}))

    def test_a_ring_is_refused(self):
        plan = self.make_plan("--fix", "context=2", "--fix", "context_algorithm=ring")
        self.assertIn("no word", self.run_program("simulate", plan, "--chakra", self.folder / "step", expect=30).stderr)


if __name__ == "__main__":
    program.main()
