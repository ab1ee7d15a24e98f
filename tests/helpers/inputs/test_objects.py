"""Boxes, corners and hidden patches."""

import numpy as np
import pytest
import torch

from helpers import load_images
from helpers.inputs.objects import in_corners, mass_inside, object_boxes, without_heaviest


def test_boxes_are_rectangles_that_leave_something_outside():
    images, masks = object_boxes()
    assert masks.shape == (len(images), 8, 8) and len(set(images)) == len(images) == 41
    assert min(images) >= 0 and max(images) < 80
    for mask in masks:
        rows, columns = mask.any(1), mask.any(0)
        np.testing.assert_array_equal(mask, np.outer(rows, columns))
        assert 4 <= mask.sum() <= 48
        assert (np.diff(np.flatnonzero(rows)) == 1).all() and (np.diff(np.flatnonzero(columns)) == 1).all()


def test_a_box_lies_on_its_object():
    """A small dark aeroplane in a plain sky: its box differs from its surroundings more than they do."""
    images, masks = object_boxes()
    at = images.index(20)
    grey = load_images(n=21).raw[20].float().mean(0).reshape(8, 4, 8, 4)
    spread = grey.std((1, 3)).numpy()  # texture of each patch
    assert spread[masks[at] == 1].mean() > 2 * spread[masks[at] == 0].mean()


def test_corners_take_turns_and_hold_the_whole_image():
    images = torch.rand(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    canvas, masks = in_corners(images, (8, 8))
    np.testing.assert_allclose(masks[:4].sum(0), 1)  # each patch in exactly one of four corners
    small = torch.nn.functional.avg_pool2d(images, 2)
    torch.testing.assert_close(canvas[1, :, :16, 16:], small[1])
    torch.testing.assert_close(canvas[2, :, 16:, :16], small[2])
    torch.testing.assert_close(canvas[2, :, :16], images[2].mean((1, 2))[:, None, None].expand(-1, 16, 32))
    always = np.random.default_rng(0).dirichlet(np.ones(64)).reshape(1, 8, 8)
    assert mass_inside(always.repeat(8, 0), masks).mean() == pytest.approx(1)


def test_an_odd_grid_has_no_quarters():
    with pytest.raises(ValueError, match="7×7 patches cannot be quartered"):
        in_corners(torch.zeros(1, 3, 28, 28), (7, 7))


def test_mass_is_relative_to_the_area():
    masks = np.zeros((2, 4, 4))
    masks[:, :2] = 1
    maps = np.stack([np.full((4, 4), 1 / 16), masks[0] / 8])
    np.testing.assert_allclose(mass_inside(maps, masks), [1, 2])


def test_the_heaviest_patches_are_hidden():
    images = torch.ones(2, 3, 16, 16)
    maps = np.arange(32.0).reshape(2, 4, 4)
    maps[1] = maps[1].T
    seen = without_heaviest(images, maps, share=0.25)
    assert (seen[0, :, 12:] == 0).all() and (seen[0, :, :12] == 1).all()
    assert (seen[1, :, :, 12:] == 0).all() and (seen[1, :, :, :12] == 1).all()
    assert (images == 1).all()
