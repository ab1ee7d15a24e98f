"""Figures: their style stays inside, and a notebook goes on showing figures after one of ours."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbclient
import nbformat
import numpy as np

from bookbuild.kernels import own_sockets
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
    with own_sockets() as config:
        nbclient.NotebookClient(notebook, config=config, timeout=300).execute()
    shown = [[o.output_type for o in cell.outputs if "image/png" in o.get("data", {})] for cell in notebook.cells]
    assert shown == [["display_data"]] * 2
    plt.close("all")


def test_a_mosaic_keeps_every_tile():
    tiles = np.arange(5 * 2 * 3.0).reshape(5, 2, 3)
    sheet = plots.mosaic(tiles, 2, gap=np.nan)
    assert sheet.shape == (8, 7)
    np.testing.assert_array_equal(sheet[3:5, 4:7], tiles[3])
    assert np.isnan(sheet[2]).all() and np.isnan(sheet[:, 3]).all() and np.isnan(sheet[6:, 4:]).all()
    assert plots.mosaic(np.zeros((4, 2, 2, 3)), 4, gap=1).shape == (2, 11, 3)


def test_axes_of_taps_show_block_numbers():
    taps = ["embed", *(f"blocks.{i}.{part}" for i in range(3) for part in ("norm1", "attn_out")), "norm"]
    ax = plots.heatmaps([(np.random.default_rng(0).random((8, 2)), ["a", "b"], taps)], "CKA")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]
    assert list(ax.get_yticks(minor=True)) == [1, 3, 5, 7] and ax.get_ylabel() == "block"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    plt.close("all")


def test_a_network_has_one_colour():
    assert plots.colours(["ViT", "ResNet", "_chance"]) == [plots.PALETTE[0], plots.PALETTE[1], None]
    assert plots.colours(["resnet", "vit_cls"]) == [plots.PALETTE[1], plots.PALETTE[0]]
    assert plots.colours(["vit_cls", "vit_gap"]) == [None, None]  # one colour cannot tell two apart
