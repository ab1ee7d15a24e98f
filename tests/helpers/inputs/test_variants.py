"""Shifted and cluttered images: every pixel comes from where it should, and the boxes tell the truth."""

from __future__ import annotations

import pytest
import torch

from helpers import load_images
from helpers.inputs.variants import Shuffled, cluttered, shifted


@pytest.fixture(scope="module")
def images():
    return load_images("cifar10", 40)


@pytest.mark.parametrize("border", ["wrap", "reflect", "black"])
@pytest.mark.parametrize(("right", "down"), [(0, 0), (3, -2), (-5, 7)])
def test_inner_pixels_move_and_the_type_stays(images, border, right, down):
    moved = shifted(images, right, down, border)
    assert type(moved) is type(images) and moved.raw.dtype == torch.uint8 and torch.equal(moved.labels, images.labels)
    for y, x in [(10, 10), (15, 20)]:
        assert torch.equal(moved.raw[:, :, y + down, x + right], images.raw[:, :, y, x])


def test_what_enters_at_the_edge():
    row = torch.arange(1.0, 6)[None, None, None].expand(1, 1, 5, 5)
    assert shifted(row, 2)[0, 0, 0].tolist() == [4, 5, 1, 2, 3]
    assert shifted(row, 2, border="reflect")[0, 0, 0].tolist() == [3, 2, 1, 2, 3]
    assert shifted(row, -2, border="black")[0, 0, 0].tolist() == [3, 4, 5, 0, 0]


def test_shifts_wrap_and_undo_each_other(images):
    assert torch.equal(shifted(shifted(images.raw, 5, -3), -5, 3), images.raw)


def test_an_impossible_shift_is_refused(images):
    with pytest.raises(ValueError, match=r"shift of \(32, 0\) leaves nothing"):
        shifted(images, 32)
    with pytest.raises(ValueError, match="Unknown border 'white'"):
        shifted(images, 1, border="white")


def test_the_object_is_in_its_box_and_the_rest_is_not_from_it(images):
    made = cluttered(images, side=16, seed=3)
    small = torch.nn.functional.interpolate(images.raw.float(), (16, 16), mode="area").round().byte()
    for i, (left, top, right, bottom) in enumerate(made.boxes.tolist()):
        assert torch.equal(made.images.raw[i, :, top:bottom, left:right], small[i])
        assert min(left, top) >= 0 and max(right, bottom) <= 32 and left % 4 == top % 4 == 0
    assert len({tuple(box) for box in made.boxes.tolist()}) > 10
    assert torch.equal(made.images.labels, images.labels)


def test_every_background_piece_is_a_piece_of_another_image(images):
    made = cluttered(images, side=8, piece=8, seed=1)
    pieces = lambda raw: raw.unfold(1, 8, 8).unfold(2, 8, 8).permute(1, 2, 0, 3, 4).reshape(16, -1)
    known = {tuple(p.tolist()): i for i, raw in enumerate(images.raw) for p in pieces(raw)}
    covered = made.on_grid(4).flatten(1)
    for i, raw in enumerate(made.images.raw):
        donors = [known.get(tuple(p.tolist())) for p, share in zip(pieces(raw), covered[i], strict=True) if share == 0]
        assert None not in donors and i not in donors and len(set(donors)) > 5


def test_a_seed_fixes_the_clutter_and_the_input_is_left_alone(images):
    before = images.raw.clone()
    first, again, other = cluttered(images, seed=0), cluttered(images, seed=0), cluttered(images, seed=1)
    assert torch.equal(first.images.raw, again.images.raw) and not torch.equal(first.images.raw, other.images.raw)
    assert torch.equal(images.raw, before)


def test_on_grid_is_the_covered_share_by_counting_pixels(images):
    made = cluttered(images, side=20, seed=2)
    for i, (left, top, right, bottom) in enumerate(made.boxes.tolist()):
        pixels = torch.zeros(32, 32, dtype=torch.float64)
        pixels[top:bottom, left:right] = 1
        for cells in (2, 4, 8):
            counted = torch.nn.functional.avg_pool2d(pixels[None], 32 // cells)[0]
            torch.testing.assert_close(made.on_grid(cells)[i], counted)


def test_bad_sizes_are_refused(images):
    with pytest.raises(ValueError, match="does not fit images of 32×32"):
        cluttered(images, side=40)
    with pytest.raises(ValueError, match="at least two"):
        cluttered(images.take(1))


def test_shuffled_patches_are_the_same_patches_in_an_order_of_their_own():
    images = [(torch.arange(3 * 8 * 8.0).reshape(3, 8, 8), 5)] * 3
    mixed = Shuffled(images, 4)
    squares = lambda x: [x[:, top : top + 4, left : left + 4] for top in (0, 4) for left in (0, 4)]
    patches = lambda x: {tuple(square.flatten().tolist()) for square in squares(x)}
    assert len(mixed) == 3
    for x, label in (mixed[i] for i in range(3)):
        assert patches(x) == patches(images[0][0]) and label == 5
    assert torch.equal(mixed[1][0], mixed[1][0])
    assert len({tuple(mixed[i][0].flatten().tolist()) for i in range(3)}) > 1
    with pytest.raises(ValueError, match="8×8 px cannot be cut into patches of 3"):
        Shuffled(images, 3)[0]
