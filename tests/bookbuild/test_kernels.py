"""A kernel of the build gets no port that another process could take before it does."""

import os
from pathlib import Path

import nbclient
import nbformat
import pytest

from bookbuild.kernels import own_sockets

LISTENING = "import ipykernel.connect, json\nprint(json.loads(ipykernel.connect.get_connection_info())['transport'])"


@pytest.mark.notebooks
@pytest.mark.skipif(os.name == "nt", reason="Windows has no sockets that are files")
def test_a_kernel_listens_on_files_that_go_with_it():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(LISTENING)])
    with own_sockets() as config:
        folder = Path(config.KernelManager.ip).parent
        assert folder.is_dir()
        nbclient.NotebookClient(notebook, config=config, timeout=300).execute()
    assert notebook.cells[0].outputs[0].text == "ipc\n" and not folder.exists()
