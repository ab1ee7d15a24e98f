"""From localization to the numbers of R28–R31."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...metrics.localize import Localization


def inner_contrast(one: Localization) -> float:
    """The contrast of tokens that do not lie at the border."""
    return float((one.own - one.others)[~one.border].mean())


def places(vit: Localization, first: Localization, last: Localization) -> dict[str, float]:
    """Of a ViT's last block and of the first and last unit of a ResNet's last stage, on one grid.

    Claims use the same words for different things, so each number is named with its claim.
    """
    return {
        "R28 hit_rate": vit.hit_rate,
        "R29 edge": vit.edge, "R29 minus_inner": vit.edge - vit.inner_edge,
        "R30 hit_rate": last.hit_rate - vit.hit_rate, "R30 contrast": last.contrast - vit.contrast,
        "R30 inner_contrast": inner_contrast(last) - inner_contrast(vit),
        "R31 unit_1_minus_last": first.contrast - last.contrast,
        "R31 vit_minus_unit_1": vit.contrast - first.contrast,
    }  # fmt: skip


def of_claim(numbers: dict, claim: str) -> dict:
    """The numbers that `places` names with a claim, by the claim's own words."""
    return {name.partition(" ")[2]: value for name, value in numbers.items() if name.startswith(f"{claim} ")}
