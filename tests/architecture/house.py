"""Reads the house as text: files, rooms, what add_room() lets a room include, C++ without comments and strings.

Used by the tests of this folder; holds no rule itself.
"""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOPS = ("sim", "planner", "executor", "cli", "gui", "python")


def sources(suffixes=(".h", ".cpp", ".cuh", ".cu"), tops=TOPS):
    """Paths relative to the root, sorted, of the given top folders that exist."""
    found = [path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in suffixes]
    return sorted(path.relative_to(ROOT) for path in found)


@functools.lru_cache(maxsize=None)
def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def code(cpp):
    """C++ with comments blanked and the contents of strings and characters removed; lines stay where they are."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(match):
        token = match.group(0)
        quotes = '""' if token.startswith(('"', "R")) else "''" if token.startswith("'") else " "
        return quotes + "\n" * token.count("\n")

    return pattern.sub(blank, cpp)


def includes(cpp):
    """Pairs (line number, what is included)."""
    found = re.finditer(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^>"]+)[>"]', cpp, re.M)
    return [(cpp.count("\n", 0, match.start()) + 1, match.group(1)) for match in found]


def room_of(path):
    """'sim/plan/parallel_plan.h' -> 'sim_plan'; 'cli/plan.cpp' -> 'cli'."""
    return "_".join(pathlib.PurePath(path).parts[:-1])


def declared_rooms(cmake):
    """add_room(), add_executor_room(), add_gui_room() and add_python_room() calls of a CMake text: room -> the set of its DEPENDS."""
    rooms = {}
    for call in re.finditer(r"add_(?:executor_|gui_|python_)?room\s*\(([^)]*)\)", re.sub(r"#[^\n]*", "", cmake)):
        words, section, parts = call.group(1).split(), None, {}
        for word in words:
            if word in ("NAME", "SOURCES", "DEPENDS", "LIBRARIES", "PRIVATE_LIBRARIES"):
                section = word
            else:
                parts.setdefault(section, []).append(word)
        if "NAME" not in parts:   # the body of a helper that passes its arguments on
            continue
        rooms[parts["NAME"][0]] = set(parts.get("DEPENDS", []))
    return rooms


@functools.lru_cache(maxsize=None)
def rooms():
    found = {}
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("CMakeLists.txt")):
            found.update(declared_rooms(path.read_text()))
    return found


def closure(room, depends):
    """The room and everything it may include, transitively."""
    seen, todo = set(), [room]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(depends.get(current, ()))
    return seen


def cycle(edges):
    """One cycle of a graph {node: successors} as a list of nodes, or None."""
    state = {}

    def visit(node, trail):
        state[node] = "open"
        for successor in sorted(edges.get(node, ())):
            if state.get(successor) == "open":
                return trail[trail.index(successor):] + [successor] if successor in trail else [node, successor]
            if successor not in state:
                found = visit(successor, trail + [successor])
                if found:
                    return found
        state[node] = "closed"
        return None

    for node in sorted(edges):
        if node not in state:
            found = visit(node, [node])
            if found:
                return found
    return None
