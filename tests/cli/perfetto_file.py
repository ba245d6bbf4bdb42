"""Reads a Perfetto trace (TrackEvent packets) by the rules of its format alone, and refuses what trace_processor would drop or count as an error."""
import struct
from collections import defaultdict

PACKET, TIMESTAMP, SEQUENCE, EVENT, INTERNED, FLAGS, TRACK = 1, 8, 10, 11, 12, 13, 60
CLEARED, NEEDED = 1, 2


def fields(data):
    """{number: [value, ...]} of a message; a value is a number or bytes."""
    found, at = defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(data):
        tag = varint()
        wire = tag & 7
        if wire == 0:
            value = varint()
        else:
            size = {1: 8, 2: None, 5: 4}[wire]
            size = varint() if size is None else size
            assert at + size <= len(data), "cut"
            value, at = data[at:at + size], at + size
        found[tag >> 3].append(value)
    return found


class PerfettoFile:
    def __init__(self, path):
        self.tracks = {}       # uuid -> (parent, name, is a counter)
        self.slices = []       # (path of the track, name, category, begin, end, key, correlation)
        self.flows = []        # (begin of what it leaves, end of what it reaches)
        self.counters = defaultdict(list)  # path -> [(time, value)]
        self.texts = {1: {}, 2: {}, 3: {}, 29: {}}
        self.open, self.starts, self.ends, self.last = {}, {}, {}, {}
        state = False
        for packet in map(fields, fields(path.read_bytes())[PACKET]):
            assert packet[SEQUENCE] == [1]
            flags = packet.get(FLAGS, [0])[0]
            state = state or flags & CLEARED
            assert state or not flags & NEEDED, "texts that are needed were never begun"
            for data in packet.get(INTERNED, []):
                for kind, entries in fields(data).items():
                    for entry in map(fields, entries):
                        assert entry[1][0] not in self.texts[kind], "a text has two meanings"
                        self.texts[kind][entry[1][0]] = entry[2][0].decode()
            for data in packet.get(TRACK, []):
                self.add_track(fields(data))
            for data in packet.get(EVENT, []):
                self.add_event(packet[TIMESTAMP][0], fields(data))
        assert not self.open, f"slices that never end: {self.open}"
        assert set(self.starts) == set(self.ends), "flows with one end"
        self.flows = [(self.starts[flow], self.ends[flow]) for flow in self.starts]

    def add_track(self, track):
        uuid = track[1][0]
        assert uuid not in self.tracks
        process = fields(track[3][0]) if track[3] else None
        self.tracks[uuid] = (track[5][0] if track[5] else None, (process[6] if process else track[2])[0].decode(), bool(track[8]))

    def path(self, uuid):
        parent, name, _ = self.tracks[uuid]
        return (self.path(parent) if parent else ()) + (name,)

    def add_event(self, time, event):
        kind, track = event[9][0], event[11][0]
        assert self.tracks[track][2] == (kind == 4), "counters are counted, rows hold slices"
        assert time >= self.last.get(track, 0), "not in the order of time"
        self.last[track] = time
        if kind == 4:
            self.counters[self.path(track)].append((time, event[30][0] if event[30] else struct.unpack("<d", event[44][0])[0]))
        elif kind == 1:
            assert track not in self.open, "slices of a row overlap"
            key = next((self.texts[29][note[17][0]] for note in map(fields, event[4]) if self.texts[3][note[1][0]] == "key"), None)
            category = self.texts[1][event[3][0]] if event[3] else None
            self.open[track] = (self.texts[2][event[10][0]], category, time, key, event[52][0] if event[52] else None)
            for flow in event[47]:
                assert flow not in self.starts, "two slices begin one flow"
                self.starts[flow] = time
        else:
            name, category, begin, key, correlation = self.open.pop(track)
            self.slices.append((self.path(track), name, category, begin, time, key, correlation))
            for flow in event[48]:
                self.ends[flow] = time
