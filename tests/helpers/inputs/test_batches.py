"""Batches of a tensor, a dataset or a loader: cut, merged, and checked against the model that reads them."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from helpers.inputs.batches import batches, check, count, is_loader, require_fixed_order, to_model


def test_a_tensor_is_cut_in_order_and_further_passes_in_random_orders():
    x = torch.arange(10.0).view(10, 1, 1, 1)
    assert [batch.flatten().tolist() for batch in batches(x, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    first, second, third = (torch.cat(list(batches(x, 4, passes=3))).flatten()[10 * k :][:10] for k in range(3))
    assert first.tolist() == list(range(10)) != second.tolist() != third.tolist()
    assert second.sort().values.tolist() == third.sort().values.tolist() == list(range(10))


def test_a_short_last_batch_joins_the_one_before():
    x = torch.zeros(9, 3, 4, 4)
    with pytest.warns(UserWarning, match="a batch had 1 images, fewer than 4: merged"):
        assert [len(batch) for batch in batches(x, 4, smallest=4)] == [4, 5]
    with pytest.raises(ValueError, match="there are no images"):
        list(batches(x[:0], 4))
    with pytest.raises(ValueError, match="batch_size=3 is too small"):
        list(batches(x, 3, smallest=4))


def test_what_has_an_order_of_its_own_is_a_loader():
    x = torch.zeros(6, 3, 4, 4)
    dataset = TensorDataset(x, torch.arange(6))
    assert not any(is_loader(source) for source in (x, dataset))
    assert all(is_loader(source) for source in (DataLoader(dataset), [x], iter([x])))
    assert [count(source) for source in (x, dataset, DataLoader(dataset, 4), [x])] == [6, 6, 6, None]
    with pytest.raises(TypeError, match="not int"):
        is_loader(3)


def test_a_loader_must_read_the_same_twice():
    x = torch.arange(600.0).view(200, 3, 1, 1)
    require_fixed_order(DataLoader(TensorDataset(x), 100))
    with pytest.raises(ValueError, match="shuffles"):
        require_fixed_order(DataLoader(TensorDataset(x), 100, shuffle=True, generator=torch.Generator().manual_seed(0)))
    with pytest.raises(ValueError, match="can be read only once"):
        require_fixed_order(iter([x]))


@pytest.mark.parametrize(("change", "message"), [
    (lambda x: x[:, :1], "1 channels, the model wants 3"),
    (lambda x: x[..., :16], "32×16 px, the model wants 32×32"),
    (lambda x: 255 * x.abs() + 40, "look like 0–255 bytes"),
    (lambda x: x.byte(), "are bytes"),
    (lambda x: x * torch.nan, "NaN or Inf"),
])
def test_a_batch_that_the_model_cannot_mean_is_refused(vit, images, change, message):
    check(images, vit)
    with pytest.raises(ValueError, match=message):
        check(change(images), vit)


def test_a_batch_goes_to_the_device_in_the_models_dtype(vit, images):
    assert to_model(images, vit.half(), torch.device("cpu")).dtype == torch.float16
