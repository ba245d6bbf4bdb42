"""The table of docs/figures/compositions.md, of what the parity tests reported and the loop found (loop_test.py)."""
import json
import re


def mesh_of(composition):
    return composition.split("_")[0]


def words_of(composition):
    return composition[len(mesh_of(composition)) + 1:].replace("_", " ") or "plain"


def outcome(test):
    """Whether it passed, or the name of the test to which it was left; None where there was nothing to prove."""
    return not test.get("failures") if test["result"] == "COMPLETED" else test.get("proven_by")


def results_of(report):
    """(test, composition) -> outcome, of the meshes that this job has ranks for."""
    found = {tuple(test["name"].split("/")): outcome(test) for suite in report["testsuites"] if suite["name"] == "All/Compositions" for test in suite["testsuite"]}
    meshes = {mesh_of(composition) for (_, composition), of in found.items() if isinstance(of, bool)}
    return {at: of for at, of in found.items() if mesh_of(at[1]) in meshes}


def results(folder):
    """Of all jobs; what none ran is not there."""
    return {at: of for report in folder.glob("parity_*.json") for at, of in results_of(json.loads(report.read_text())).items()}


def verdict(results, members, tests):
    """Of some tests of a mesh's compositions, and which others prove what these leave out; "-" where none ran."""
    outcomes = {name: {results.get((test, name)) for test in tests} for name in members}
    failed = [words_of(name) for name, of in outcomes.items() if False in of]
    if failed:
        return "no: " + ", ".join(failed)
    if not any(True in of for of in outcomes.values()):
        return "-"
    elsewhere = sorted({test for of in outcomes.values() for test in of if isinstance(test, str)})
    return "; ".join(["yes", *(f"{test}: {', '.join(words_of(name) for name, of in outcomes.items() if test in of)}" for test in elsewhere)])


def table(names, loop, parity):
    compositions = [name for name in names if not re.search(r"_zero\d$", name)]
    meshes = sorted({mesh_of(name) for name in compositions}, key=lambda mesh: (len(mesh), mesh))
    lines = ["| Ranks | with | fp64 <= 1e-10 of one process | ZeRO-1, 2, 3 = DDP, every bit | keys and ledger equal, memory <= 2 % (16 and 8 bit: + 24 KiB; convolutions: + 8 KiB) |", "|---|---|---|---|---|"]
    performed = {("loop", name): not problems for name, problems in loop.items()}
    for mesh in meshes:
        members = [name for name in compositions if mesh_of(name) == mesh]
        variants = ", ".join(map(words_of, members))
        fp64 = verdict(parity, members, ("ItsModelAgreesWithOneProcess", "LlamaAgreesWithOneProcess"))
        zero = verdict(parity, members, ("ZeroStagesAreBitwiseEqual",))
        whole = verdict(performed, [name for name in names if mesh_of(name) == mesh], ("loop",))
        lines.append(f"| {mesh} | {variants} | {fp64} | {zero} | {whole} |")
    return "\n".join(lines) + "\n"


def left_to_others(cell):
    """(test, words) of a cell."""
    return {(test, words) for part in cell.strip().split("; ")[1:] for test, _, all_words in [part.partition(": ")] for words in all_words.split(", ")}


def agree(standing, made):
    """A turn (tests/in_turn.sh) may have nothing of a mesh ("-"), or some of what its tests leave to others."""
    both_say_yes = all(cell.startswith(" yes") for cell in (standing, made))
    return made in (standing, " - ") or (both_say_yes and left_to_others(made) <= left_to_others(standing))


def holds(standing, made):
    lines = [[line.split("|") for line in table.splitlines()] for table in (standing, made)]
    return len(lines[0]) == len(lines[1]) and all(len(a) == len(b) and all(map(agree, a, b)) for a, b in zip(*lines))
