"""Checks for the exercises of chapter 14."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .base import Feedback, Slip, call, compare, exercise, not_yet, tensor_of


@exercise("14.table2d")
def _table(answer: Callable) -> Feedback:
    """Compare with the definition on a grid that is not square, then with the usual slips, by a random projection."""
    rng = torch.Generator().manual_seed(14)
    rows, columns = (torch.randn(n, 4, generator=rng, dtype=torch.float64) for n in (3, 5))
    probe = torch.rand(15, 8, generator=rng, dtype=torch.float64)
    got = call(answer, rows.clone(), columns.clone())
    if isinstance(got, Feedback):
        return got
    got = tensor_of(got)
    if got.shape in ((15, 4), (3, 5, 4)):
        return not_yet("the halves were added; put them side by side, so that the vector has D numbers",
                       "두 절반을 더했다. 나란히 이어 붙여서 벡터의 길이가 D가 되게 한다")
    if got.shape == (3, 5, 8):
        return not_yet("the grid still has two axes; lay the places out in reading order, one row each: [R·C, D]",
                       "격자의 두 축이 그대로 있다. 자리를 읽는 순서로 늘어놓아 [R·C, D]로 만든다")
    if got.shape != (15, 8):
        return not_yet(f"3 rows and 5 columns with halves of 4 make [15, 8], but the shape is {tuple(got.shape)}",
                       f"행 3개, 열 5개, 절반의 길이가 4면 [15, 8]이어야 하는데 모양이 {tuple(got.shape)}이다")
    each_row, all_rows = rows.repeat_interleave(5, 0), rows.repeat(5, 1)
    each_column, all_columns = columns.repeat_interleave(3, 0), columns.repeat(3, 1)
    seen = lambda *halves: float((torch.cat(halves, 1) * probe).sum())
    slips: list[Slip] = [
        (seen(all_rows, each_column), "the places run down the columns; in reading order the column changes fastest",
         "자리가 열을 따라 내려간다. 읽는 순서에서는 열이 가장 빨리 바뀐다"),
        (seen(all_columns, each_row), "the column's half comes first; the row's half was to be first",
         "열의 절반이 앞에 있다. 행의 절반이 앞에 와야 한다"),
        (seen(all_rows, all_columns), "row and column both change at every step: repeat each row C times in succession",
         "자리마다 행과 열이 함께 바뀐다. 행 벡터는 하나하나를 C번씩 잇따라 되풀이한다"),
        (seen(each_row, each_column), "both halves stay for several places; the list of columns repeats as a whole",
         "두 절반이 모두 여러 자리에 걸쳐 그대로다. 열 벡터는 목록 전체를 되풀이한다"),
    ]
    return compare((got.double() * probe).sum(), seen(each_row, all_columns), slips, (
        "place r·C + c gets row vector r, then column vector c",
        "r·C + c번 자리의 벡터는 행 벡터 r에 열 벡터 c를 이어 붙인 것이다"), tolerance=1e-6)


@exercise("14.axial")
def _axial(answer: float) -> Feedback:
    """6 D + 2 g < g² for D = 768: the smallest side is 69."""
    slips: list[Slip] = [
        (68, "at 68 the global block is still a little cheaper: 6 · 768 + 2 · 68 is more than 68²",
         "68에서는 아직 전역 블록이 조금 더 싸다. 6 · 768 + 2 · 68은 68²보다 크다"),
        (69**2, "that is the number of tokens; the side of the grid was asked for",
         "그것은 토큰의 수다. 묻는 것은 격자의 한 변이다"),
        (69 * 16, "that is the side of the image in pixels; count patches",
         "그것은 이미지의 한 변을 픽셀로 센 것이다. 패치로 센다"),
        (3, "you compared only the scores: two axial blocks need projections and an MLP each",
         "점수만 견주었다. 축 방향 블록 둘에는 투영과 MLP가 저마다 있다"),
        (41, "the second MLP is missing: each of the two axial blocks has one of its own",
         "MLP 하나가 빠졌다. 축 방향 블록 둘은 MLP를 저마다 하나씩 갖는다"),
        (99, "the scores of a global block cost 2 N² D: one N² D for scores, one for weighted means",
         "전역 블록의 점수와 가중 평균은 2 N² D다. 점수에 N² D, 가중 평균에 N² D가 든다"),
    ]
    return compare(answer, 69, slips, (
        "set 24 N D² + 4 N g D against 12 N D² + 2 N² D with N = g² and find the first whole g that is cheaper",
        "N = g²으로 두고 24 N D² + 4 N g D와 12 N D² + 2 N² D를 견주어, 더 싸지는 첫 정수 g를 찾는다"))
