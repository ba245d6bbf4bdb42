"""examples/notebook.ipynb runs from its first cell to its last, and shows pictures."""
import unittest

import nbformat
from nbclient import NotebookClient

from some_plan import ROOT


class Notebook(unittest.TestCase):
    def test_it_runs(self):
        notebook = nbformat.read(ROOT / "examples/notebook.ipynb", as_version=4)
        NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
        shown = {kind for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs for kind in output.get("data", {})}
        self.assertLessEqual({"text/html", "image/svg+xml"}, shown)


if __name__ == "__main__":
    unittest.main()
