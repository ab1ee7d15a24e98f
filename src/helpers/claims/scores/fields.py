"""From effective receptive fields to the numbers of R16–R20."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..intervals import Interval
from .curves import largest_step

if TYPE_CHECKING:
    from ...metrics.receptive import ReceptiveField


def whole(groups: Sequence[ReceptiveField]) -> ReceptiveField:
    """The field of all images: the mean over groups of them."""
    return replace(groups[0], maps=np.mean([group.maps for group in groups], 0),
                   n_images=sum(group.n_images for group in groups))


def over_groups(score: Callable[..., dict[str, float]], *fields: Sequence[ReceptiveField]) -> dict[str, Interval]:
    """A score of the fields of every group of images: means, with intervals."""
    found = [score(*group) for group in zip(*fields, strict=True)]
    return {name: Interval.of([one[name] for one in found]) for name in found[0]}


def first_radii(vit: ReceptiveField, resnet: ReceptiveField) -> dict[str, float]:
    """R16, in pixels: radius of the ViT's first block minus the wider one of the ResNet's stem and first block.

    Both fields hold the first tap (patch embedding, stem) and then blocks, after the residual sum.
    """
    gap = lambda q: float(vit.radius(q)[1] - resnet.radius(q)[:2].max())
    return {"gap_50": gap(0.5), "gap_90": gap(0.9)}


def growth(vit: ReceptiveField, resnet: ReceptiveField) -> dict[str, float]:
    """R17: the largest step of the 50 % radius from block to block as a share of all growth, and its depth in the ViT.

    Fields as for `first_radii`.
    """

    def step(field: ReceptiveField) -> tuple[float, float]:
        radii = field.radius(0.5)[1:]
        return largest_step(radii, np.arange(1, len(radii) + 1) / len(radii))

    (vit_step, depth), (resnet_step, _) = step(vit), step(resnet)
    return {"vit_step": vit_step, "resnet_step": resnet_step, "step_gap": vit_step - resnet_step, "step_depth": depth}


def smallest_centre(vit: ReceptiveField) -> float:
    """R18: share of the centre patch over an even share, smallest of all blocks. Field as for `first_radii`."""
    return float((vit.centre_share / vit.uniform_share)[1:].min())


def centre_leads(vit: ReceptiveField) -> bool:
    """R18: whether the centre patch has the largest share of all patches in every block."""
    for share, (rows, columns) in zip(vit.shares[1:], vit.grids[1:], strict=True):
        patches = share.reshape(rows, len(share) // rows, columns, -1).sum((1, 3))
        if patches.argmax() != rows // 2 * columns + columns // 2:
            return False
    return True


def centre_ratio(before: ReceptiveField, after: ReceptiveField) -> dict[str, float]:
    """R19: centre share before over after the residual sum, median over the blocks of a ViT.

    Layers take turns: attention and MLP of the first block, of the second, and so on.
    """
    ratio = before.centre_share / after.centre_share
    return {"attention": float(np.median(ratio[::2])), "mlp": float(np.median(ratio[1::2]))}


def radius_ratio(before: ReceptiveField, after: ReceptiveField) -> np.ndarray:
    """R20: 50 % radius before over after the residual sum [blocks]."""
    return before.radius(0.5) / after.radius(0.5)


def stage_starts(grids: list[tuple[int, int]]) -> np.ndarray:
    """Which blocks are the first of a later stage [blocks]: those whose grid is not that of the block before."""
    return np.array([i > 0 and grid != grids[i - 1] for i, grid in enumerate(grids)])


def dominance(groups: Sequence[ReceptiveField]) -> dict[str, Interval | bool]:
    """R18: how far the centre patch of a ViT is ahead where it is least ahead. Fields as for `first_radii`."""
    return {"smallest_centre": Interval.of([smallest_centre(group) for group in groups]),
            "centre_leads": centre_leads(whole(groups))}


def narrowing(before: Sequence[ReceptiveField], after: Sequence[ReceptiveField]) -> dict[str, Interval]:
    """R20: `radius_ratio` of a ResNet in ordinary blocks and in the first block of later stages."""
    first = stage_starts(after[0].grids)
    ratio = np.array([radius_ratio(*group) for group in zip(before, after, strict=True)])  # [groups, blocks]
    off = abs(ratio - 1)
    farthest = np.where(first, 0, abs(ratio.mean(0) - 1)).argmax()
    by_group = {"ordinary": ratio[:, ~first].mean(1), "farthest": ratio[:, farthest], "first": ratio[:, first].mean(1),
                "farther": off[:, first].mean(1) - off[:, ~first].mean(1)}
    return {name: Interval.of(values.tolist()) for name, values in by_group.items()}
