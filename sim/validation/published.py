"""What the program predicts of published rows, one by one."""
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def predictions(program, path):
    """The document that `validate --out` writes; some rows may say what none can read (exit code 30)."""
    with tempfile.TemporaryDirectory() as folder:
        answer = pathlib.Path(folder) / "predicted.json"
        subprocess.run([program, "validate", path, "--out", answer], cwd=ROOT, capture_output=True)
        return json.loads(answer.read_text())


def by_row(document):
    """Of the rows that could be predicted."""
    return {row["id"]: row["predicted"] for row in document["rows"] if row["status"] == "ok"}
