"""Includes follow DEPENDS, DEPENDS follow the direction of the house, nothing goes round in a circle."""
import re
import unittest

import house

# What a room may see, below: the direction of the house. `executor` stops at the vocabulary; it never prices or simulates.
_SIM = {
    "sim_units": [],
    "sim_tokenizer": ["sim_units"],
    "sim_model": ["sim_units"],
    "sim_cluster": ["sim_units"],
    "sim_schedule": ["sim_units"],
    "sim_collective": ["sim_units"],
    "sim_plan": ["sim_model", "sim_cluster", "sim_schedule", "sim_collective"],
    "sim_sharding": ["sim_plan"],
    "sim_recipe": ["sim_plan"],
    "sim_task_graph": ["sim_sharding"],
    "sim_timeline": ["sim_task_graph"],
    "sim_clock": ["sim_model", "sim_cluster", "sim_collective"],
    "sim_cost": ["sim_timeline", "sim_clock"],
    "sim_allocator": ["sim_cost"],
    "sim_check": ["sim_timeline"],
    "sim_engine": ["sim_cost", "sim_timeline"],
    "sim_goodput": ["sim_units"],
    "sim_calibration": ["sim_engine", "sim_allocator"],
    "sim_validation": ["sim_calibration"],
}
# Numbers below, then tables, then pictures, then the window.
_GUI = {"gui_core": [], "gui_models": ["gui_core", "gui_import"], "gui_views": ["gui_core"], "gui_import": ["gui_core"],
        "gui_jobs": ["gui_models"], "gui_pages": ["gui_jobs", "gui_views", "gui_models"], "gui": ["gui_pages"]}
_VOCABULARY = house.closure("sim_timeline", _SIM)


def may_see(room):
    if room in _SIM:
        return house.closure(room, _SIM)
    if room == "planner":
        return set(_SIM) | {"planner"}
    if room == "cli":
        return set(_SIM) | {"planner", "cli", "gui_core", "gui_import"}   # both without Qt: traces of other programs
    if room == "python":
        return set(_SIM) | {"planner", "cli"}
    if room in _GUI:
        return set(_SIM) | {"planner"} | house.closure(room, _GUI)
    if room.startswith("executor"):
        return _VOCABULARY | {other for other in house.rooms() if other.startswith("executor")} | {"executor"}
    return set()


# Libraries that stay in their place: pattern of the include -> the folders or files that may have it, and why.
_KEPT = [
    (r"torch/|ATen/|c10/|mpi\.h", r"executor/", "the simulator builds on a machine without LibTorch and MPI"),
    (r"cuda\w*\.h|nccl\.h", r"executor/", "only the worker sees CUDA"),
    (r"unicode/", r"sim/tokenizer/", "characters are judged where text is cut"),
    (r"yaml-cpp/", r"sim/recipe/yaml_form\.cpp", "YAML has one reader"),
    (r"CLI/", r"cli/((declared_|plan_|run_)?options|describe)\.(cpp|h)", "CLI11 costs 7 s a translation unit"),
    (r"nanobind/", r"python/", "a program of ours needs no Python"),
    (r"Q[A-Z]\w+", r"gui/(?!core/)", "only the pictures and the window see Qt"),
    (r"nlohmann/json\.hpp|sim/units/json_reader\.h", r"\w+(/\w+)*_json\.(cpp|h)|sim/units/json_\w+\.(h|cpp)",
     "JSON costs 5 s a translation unit"),
]
# No clocks, randomness or environment in what must give the same bytes every time.
_UNDETERMINED = r"\b(steady_clock|system_clock|high_resolution_clock|random_device|mt19937\w*|rand|getenv)\b"


def undetermined(cpp):
    """What could differ between two runs; unordered containers may be looked into, not walked through."""
    clean = house.code(cpp)
    found = [match.group(0) for match in re.finditer(_UNDETERMINED, clean)]
    for name in re.findall(r"\bunordered_\w+<[^;{}()]*>\s+(\w+)\s*[;{=]", clean):
        found += re.findall(rf":\s*(?:\w+(?:\.|->))*{name}\)|\b{name}\.begin\(", clean)
    return found


def include_violations(path, cpp, depends):
    allowed = house.closure(house.room_of(path), depends)
    found = []
    for line, name in house.includes(cpp):
        if name.split("/")[0] in house.TOPS:
            if not (house.ROOT / name).exists():
                found.append(f"{path}:{line} includes {name}, which does not exist")
            elif house.room_of(name) not in allowed and house.room_of(name) != "executor":
                found.append(f"{path}:{line} includes {name}: {house.room_of(name)} is not in the DEPENDS of {house.room_of(path)}")
        for pattern, place, why in _KEPT:
            if re.match(pattern, name) and not re.match(place, str(path)):
                found.append(f"{path}:{line} includes {name}: {why}")
    return found


class Rooms(unittest.TestCase):
    def test_includes_follow_depends(self):
        found = [v for path in house.sources() for v in include_violations(path, house.text(path), house.rooms())]
        self.assertEqual(found, [], "\n".join(found))

    def test_depends_follow_the_direction(self):
        found = [f"{room} depends on {other}" for room, depends in sorted(house.rooms().items())
                 for other in sorted(depends) if other not in may_see(room)]
        self.assertEqual(found, [])

    def test_no_cycles(self):
        self.assertIsNone(house.cycle(house.rooms()))
        headers = {str(path): [name for _, name in house.includes(house.text(path))] for path in house.sources((".h",))}
        self.assertIsNone(house.cycle(headers))

    def test_every_source_stands_in_a_room(self):
        rooms = set(house.rooms())
        lost = [str(path) for path in house.sources((".cpp", ".cu")) if house.room_of(path) not in rooms and path.name != "main.cpp"]
        self.assertEqual(lost, [])

    def test_sim_and_planner_are_deterministic(self):
        where_profiles_are = ("sim/units/profile_search.cpp", "getenv")   # which files are read, not what is made of them
        found = [f"{path} uses {what}" for path in house.sources(tops=("sim", "planner")) for what in undetermined(house.text(path))
                 if (str(path), what) != where_profiles_are]
        self.assertEqual(found, [])


class TheTestsCanFail(unittest.TestCase):
    def test_include_against_depends(self):
        found = include_violations("sim/units/x.cpp", '#include "sim/plan/parallel_plan.h"\n', {"sim_units": set()})
        self.assertEqual(len(found), 1)

    def test_library_out_of_place(self):
        self.assertEqual(len(include_violations("sim/units/x.cpp", "#include <ATen/core/Tensor.h>\n", {})), 1)
        self.assertEqual(len(include_violations("sim/plan/plan.cpp", "#include <nlohmann/json.hpp>\n", {})), 1)

    def test_undetermined(self):
        walked = "std::unordered_map<int, std::vector<int>> m_;\nvoid f() { for (auto& x : s.m_) g(); }"
        self.assertEqual(len(undetermined(walked + "auto t = steady_clock::now();")), 2)
        self.assertEqual(undetermined("std::unordered_map<int, int> m_; int f() { return m_.at(1); }"), [])

    def test_cycle_is_named(self):
        self.assertEqual(house.cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])

    def test_depends_upward(self):
        self.assertNotIn("sim_engine", may_see("sim_check"))
        self.assertNotIn("sim_cost", may_see("executor_training"))
        self.assertEqual(house.declared_rooms("add_room(NAME sim_a SOURCES a.cpp DEPENDS sim_b sim_c)"), {"sim_a": {"sim_b", "sim_c"}})


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    unittest.main()
