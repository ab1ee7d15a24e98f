"""Checks for the exercises of chapter 5."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .base import RIGHT, Feedback, call, compare, exercise, not_yet, tensor_of


def _flat(images: Tensor, side: int) -> Tensor:
    """[n, C, H, W] → [n, N, C·P·P], as the chapter's `patches` does it."""
    cut = images.unfold(2, side, side).unfold(3, side, side)
    return cut.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


@exercise("05.together")
def _together(answer: Callable) -> Feedback:
    """Patches of made images must become the images again."""
    side, cells = 4, 3
    images = torch.arange(2 * 3 * 12 * 12, dtype=torch.float32).view(2, 3, 12, 12)
    got = call(lambda flat, side: tensor_of(answer(flat, side)), _flat(images, side), side)
    if isinstance(got, Feedback):
        return got
    if got.shape != images.shape:
        return not_yet(f"[2, 3, 12, 12] was expected for 9 patches of side 4, not {list(got.shape)}",
                       f"한 변 4인 패치 9개면 [2, 3, 12, 12]여야 하는데 {list(got.shape)}이다")
    if torch.equal(got, images):
        return RIGHT
    parts = _flat(images, side).view(2, cells, cells, 3, side, side)  # image, row, column, channel, pixel
    by = lambda *order: parts.permute(*order).reshape(images.shape)
    colours_last = parts.reshape(2, cells, cells, side, side, 3).permute(0, 5, 1, 3, 2, 4).reshape(images.shape)
    slips = [
        (parts.reshape(images.shape), "you only gave the numbers a new shape; axes have to change places too (permute)",
         "숫자의 모양만 바꾸었다. 축의 순서도 바꾸어야 한다(permute)"),
        (by(0, 3, 2, 4, 1, 5), "the patches fill the image column by column; they were cut row by row",
         "패치를 열부터 채웠다. 자를 때는 행부터 잘랐다"),
        (by(0, 3, 1, 5, 2, 4), "every patch is transposed: the last axis is the pixel's column, the one before its row",
         "패치마다 행과 열이 뒤바뀌었다. 마지막 축이 픽셀의 열, 그 앞이 행이다"),
        (colours_last, "you read the colours of a pixel side by side; `patches` writes one whole channel after another",
         "픽셀마다 색이 붙어 있다고 읽었다. `patches`는 채널을 하나씩 통째로 적는다"),
        (by(0, 3, 1, 2, 4, 5), "a pixel row of a patch continues in the next patch: the pixel row comes before the "
         "patch's column", "패치 안의 한 행은 옆 패치의 같은 행으로 이어진다. 픽셀의 행이 패치의 열보다 먼저다"),
    ]
    for wrong, en, ko in slips:
        if torch.equal(got, wrong):
            return not_yet(en, ko)
    return not_yet("the shape is right, the pixels are not in their places; start from [n, rows, columns, 3, P, P]",
                   "모양은 맞지만 픽셀이 제자리에 있지 않다. [n, 행, 열, 3, P, P]에서 시작해 보자")


@exercise("05.block_parameters")
def _block_parameters(answer: float) -> Feedback:
    """12 D² + 13 D for D = 768."""
    d = 768
    slips = [
        (12 * d * d, "the biases and the two LayerNorms are missing", "편향과 층 정규화 두 개가 빠졌다"),
        (12 * d * d + 9 * d, "the two LayerNorms are missing: a scale and a shift of D numbers each",
         "층 정규화 두 개가 빠졌다. 저마다 D개짜리 배율과 이동이 있다"),
        (12 * d * d + 11 * d, "a block has two LayerNorms, and each has a scale and a shift",
         "블록에는 층 정규화가 두 개 있고, 저마다 배율과 이동이 있다"),
        (12 * d * d + 4 * d, "the biases are missing", "편향이 빠졌다"),
        (11 * d * d + 12 * d, "attention also has an output matrix that joins the heads",
         "어텐션에는 헤드들을 합치는 출력 행렬도 있다"),
        (8 * d * d + 10 * d, "the MLP has two layers, D → 4D and 4D → D", "MLP에는 층이 둘 있다. D → 4D와 4D → D다"),
        (45 * d * d + 46 * d, "per head D_h = D/12: queries, keys and values of all heads have width D, not 12 D",
         "헤드마다 D_h = D/12다. 헤드를 모두 합친 질의, 키, 값의 폭은 12 D가 아니라 D다"),
        (12 * (12 * d * d + 13 * d), "that is all 12 blocks; one was asked for",
         "블록 12개를 모두 센 값이다. 하나만 세면 된다"),
    ]
    return compare(answer, 12 * d * d + 13 * d, slips, (
        "add up: queries, keys, values; output matrix; the MLP's two layers; their biases; two LayerNorms",
        "질의·키·값, 출력 행렬, MLP의 두 층, 그 편향들, 층 정규화 두 개를 모두 더해 보자"))
