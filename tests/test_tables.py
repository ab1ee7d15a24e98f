"""Tables of the papers: their numbers agree with one another wherever the paper prints a number twice."""

from __future__ import annotations

import pytest

from helpers import tables


@pytest.mark.parametrize("name", tables.names())
def test_a_table_is_whole_and_says_where_it_stands(name):
    frame = tables.table(name)
    assert frame.shape[0] >= 1 and frame.notna().to_numpy().any(1).all()
    assert frame.attrs["source"]["paper"] in ("vit", "raghu") and frame.attrs["source"]["place"]
    assert set(frame.attrs["what"]) == {"en", "ko"}
    accuracies = frame.drop(columns=[c for c in frame if c in frame.attrs["unit"]], errors="ignore")
    if name not in ("vit.1", "vit.8"):
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
