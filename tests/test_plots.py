"""Figures: their style stays inside, and a notebook goes on showing figures after one of ours."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbclient
import nbformat

from helpers import plots


def test_the_style_does_not_leak():
    before = dict(mpl.rcParams)
    with plots.look():
        assert mpl.rcParams["image.interpolation"] == "nearest"
    assert dict(mpl.rcParams) == before


def test_a_failing_figure_leaves_the_style_alone():
    before = dict(mpl.rcParams)
    try:
        with plots.look():
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert dict(mpl.rcParams) == before


def test_a_notebook_shows_every_figure_after_one_of_ours():
    cells = ["import matplotlib.pyplot as plt\nfrom helpers import plots\nwith plots.look():\n    plt.subplots()",
             "plt.subplots();"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=300).execute()
    shown = [[o.output_type for o in cell.outputs if "image/png" in o.get("data", {})] for cell in notebook.cells]
    assert shown == [["display_data"]] * 2
    plt.close("all")
