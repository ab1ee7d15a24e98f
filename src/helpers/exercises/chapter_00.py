"""Checks for the exercises of chapter 0."""

from __future__ import annotations

from collections.abc import Callable

from ..lab import runs as lab
from .base import RIGHT, Feedback, call, compare, exercise

TRAINING_IMAGES = 50_000  # CIFAR-10


@exercise("00.token")
def _token(answer: Callable) -> Feedback:
    """A grid that is not square, with and without a class token."""
    (row, column), (rows, columns) = (3, 2), (5, 9)
    for prefix in (1, 0):
        want = prefix + row * columns + column
        slips = [
            (prefix + row * rows + column, "a row is as long as the grid has columns, grid[1]",
             "한 행의 길이는 격자의 열 수, 곧 grid[1]이다"),
            (prefix + column * rows + row, "tokens run along the rows, not down the columns",
             "토큰은 열을 따라 내려가지 않고 행을 따라 간다"),
            (prefix + column * columns + row, "row and column are swapped", "행과 열이 뒤바뀌었다"),
            (want - 1, "the class token is token 0 and moves every patch by one" if prefix else
             "without a class token the first patch is token 0",
             "분류 토큰이 0번이므로 패치는 모두 하나씩 밀린다" if prefix else
             "분류 토큰이 없으면 첫 패치가 토큰 0이다"),
            (want + 1, "count from 0; add 1 only for a class token", "0부터 센다. 1은 분류 토큰이 있을 때만 더한다"),
        ]
        kind = ("with a class token", "분류 토큰이 있는") if prefix else ("without a class token", "분류 토큰이 없는")
        feedback = compare(call(answer, row, column, (rows, columns), bool(prefix)), want, slips, (
            f"row {row}, column {column} of a grid of {rows}×{columns} {kind[0]} is token {want}",
            f"{kind[1]} {rows}×{columns} 격자에서 {row}행 {column}열은 토큰 {want}이다"))
        if not feedback.ok:
            return feedback
    return RIGHT


@exercise("00.times_seen")
def _times_seen(answer: float) -> Feedback:
    """Images seen, divided by the images there were."""
    entry = lab.read_manifest()["vit_cls_3"]
    fraction, seen = entry["recipe"]["fraction"], entry["images_seen"]
    slips = [
        (seen / TRAINING_IMAGES, "that divides by all training images; this network had only its share of them",
         "학습 이미지 전체로 나눈 값이다. 이 신경망에는 그 일부만 있었다"),
        (seen * fraction / TRAINING_IMAGES, "the share belongs to the number of training images, below the line",
         "비율은 분모에 있는 학습 이미지 수에 곱해야 한다"),
        (TRAINING_IMAGES * fraction, "that is the number of training images; divide the images seen by it",
         "그것은 학습 이미지의 수다. 본 이미지 수를 그것으로 나누자"),
        (seen / entry["recipe"]["batch"], "that is the number of steps", "그것은 학습 단계의 수다"),
    ]
    return compare(answer, seen / (TRAINING_IMAGES * fraction), slips,
                   ("divide entry[\"images_seen\"] by the number of images this network was trained on",
                    "entry[\"images_seen\"]를 이 신경망의 학습 이미지 수로 나누어 보자"), tolerance=0.005)
