"""The explorer of a ViT's input: position embeddings and patch filters."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from timm.models.vision_transformer import VisionTransformer

from explorer_samples import unpacked
from helpers.explore import posembed_explorer
from helpers.lab.architectures import build as build_model

pytestmark = pytest.mark.usefixtures("book_build")


def small_vit(**options) -> VisionTransformer:
    """A narrow ViT on the 14×14 grid of the papers."""
    return VisionTransformer(img_size=224, patch_size=16, embed_dim=24, depth=2, num_heads=3, **options).eval()


@pytest.mark.parametrize(
    "options", [{}, {"no_embed_class": True}, {"reg_tokens": 2}, {"class_token": False, "global_pool": "avg"}]
)
def test_cosines_are_those_of_the_patches(options):
    model = small_vit(**options)
    w = posembed_explorer(model)
    table = model.pos_embed[0, -196:].detach().numpy()
    np.testing.assert_allclose(unpacked(w.parts["ViT"]["cosines"]), cosine_similarity(table), atol=5.1e-4)
    assert (w.model, w.position) == ("ViT", 7 * 14 + 7)


def test_filters_are_principal_components(lab_vit):
    part = posembed_explorer({"a": lab_vit}).parts["a"]
    weights = lab_vit.patch_embed.proj.weight.detach().double().flatten(1).numpy()
    reference = PCA(28).fit(weights)
    np.testing.assert_allclose(part["shares"], reference.explained_variance_ratio_, rtol=1e-6)
    pictures = unpacked(part["filters"])
    assert pictures.shape == (28, 4, 4, 3)
    for picture, component in zip(pictures, reference.components_, strict=True):
        image = component.reshape(3, 4, 4).transpose(1, 2, 0)
        assert abs(np.corrcoef(picture.ravel(), image.ravel())[0, 1]) > 0.9999
        assert (picture.min(), picture.max()) == (0, 255)


def test_tables_of_the_ablation_and_models_without_patch_filters():
    own = build_model("vit", 0, positions="2d")
    table = own.blocks[0].position()[1:].detach().numpy()
    cosines = unpacked(posembed_explorer(own).parts["ViT"]["cosines"])
    np.testing.assert_allclose(cosines, cosine_similarity(table), atol=5.1e-4)
    assert "filters" not in posembed_explorer(build_model("vit", 0, stem="conv")).parts["ViT"]


@pytest.mark.parametrize("kind", ["relative", "mixer"])
def test_models_without_a_table_of_positions_are_refused(kind):
    model = build_model("mixer", 0) if kind == "mixer" else build_model("vit", 0, positions=kind)
    with pytest.raises(ValueError, match="has no table of position embeddings"):
        posembed_explorer(model)


def test_posembed_refuses_unknown_models_and_positions(lab_vit):
    with pytest.raises(ValueError, match="there is no model"):
        posembed_explorer({})
    with pytest.raises(traitlets.TraitError, match="model must be one of 'ours', but it is 'our'"):
        posembed_explorer({"ours": lab_vit}, model="our")
    with pytest.raises(traitlets.TraitError, match="position must be a whole number from 0 to 63, but it is 64"):
        posembed_explorer({"ours": lab_vit}, position=64)
