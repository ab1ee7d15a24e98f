"""Tables of the papers: their numbers agree with one another wherever the paper prints a number twice."""

from __future__ import annotations

import pytest

from helpers.claims import tables


@pytest.mark.parametrize("name", tables.names())
def test_a_table_is_whole_and_says_where_it_stands(name):
    frame = tables.table(name)
    assert frame.shape[0] >= 1 and frame.notna().to_numpy().any(1).all()
    assert frame.attrs["source"]["paper"] in ("vit", "raghu", "bit", "datasets") and frame.attrs["source"]["place"]
    assert set(frame.attrs["what"]) == {"en", "ko"}
    accuracies = frame.drop(columns=[c for c in frame if c in frame.attrs["unit"]], errors="ignore")
    if name != "vit.1" and "all" not in frame.attrs["unit"]:
        accuracies = accuracies.drop(index=[r for r in frame.index if r in frame.attrs["unit"]])
        assert accuracies.stack().dropna().between(50, 100).all()


def test_an_unknown_table_names_its_neighbours():
    with pytest.raises(ValueError, match=r"vit\.5"):
        tables.table("vit.55")


def test_averages_are_the_means_of_their_columns():
    seven = tables.table("vit.7")
    assert (seven.drop("Average").mean() - seven.loc["Average"]).abs().max() < 0.006


def test_resnets_trained_with_adam_are_those_of_the_scaling_study():
    seven, six = tables.table("vit.7").drop("Average"), tables.table("vit.6")
    for short, row in {"ResNet50": "ResNet50x1", "ResNet152x2": "ResNet152x2"}.items():
        again = six.loc[row, ["ImageNet", "CIFAR-10", "CIFAR-100", "Pets", "Flowers"]]
        assert again.tolist() == seven[f"{short} Adam"].tolist()


def test_models_of_seven_epochs_stand_in_both_tables():
    five, six = tables.table("vit.5").loc["JFT-300M"], tables.table("vit.6")["ImageNet"]
    for name in ("ViT-B/32", "ViT-B/16", "ViT-L/32"):
        assert five[name] == six[name]
    assert five["ViT-L/16"] == six["ViT-L/16 @14"]
    assert 0 < abs(five["ViT-H/14"] - six["ViT-H/14 @14"]) < 0.1  # the paper prints 88.04 and 88.08


def test_the_widths_of_table_1_belong_together():
    one = tables.table("vit.1")
    assert (one["mlp"] == 4 * one["width"]).all()
    assert (one["width"] / one["heads"]).tolist() == [64, 64, 80]


def test_every_error_bar_belongs_to_a_number():
    two, sd = tables.table("vit.2").drop("TPUv3-core-days"), tables.table("vit.2.sd")
    assert list(sd.columns) == list(two.columns) and list(sd.index) == list(two.index)
    assert two.notna().where(sd.notna(), True).all().all()
    assert (sd.stack().dropna() < 2).all()


def test_scores_of_vtab_are_means_over_its_19_tasks():
    tasks = tables.table("vit.vtab")["tasks"]
    released = tables.table("bit.vtab")
    assert tasks.sum() == 19
    assert ((released[tasks.index] @ tasks) / 19 - released["VTAB (19 tasks)"]).abs().max() < 0.01


def test_bit_gains_what_its_table_says_it_gains():
    gain = tables.table("bit.2").diff().iloc[-1]
    assert gain.round(2).tolist() == [4.09, 1.40, 5.96, 0.49, 9.41, 3.77]  # the row "Improvement" of the same table
