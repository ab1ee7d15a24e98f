"""Taps: names that exist, in the order of execution, holding what they say they hold."""

from __future__ import annotations

import copy
import re

import pytest
import timm
import torch
from torch import nn

from helpers import cka, features, taps
from helpers.networks.taps import find, tapped

BLOCK = ["norm1", "attn_out", "after_attn", "norm2", "mlp_hidden", "mlp_out"]


def read(model: nn.Module, names: list[str], x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Clones of what the taps hold during one forward pass."""
    wanted, kept = find(model, names, x), {}
    with torch.no_grad(), tapped(model, wanted, lambda i, t: kept.__setitem__(wanted[i].name, t.clone())):
        model(x)
    return kept


def block_names(path: str, parts: list[str]) -> list[str]:
    return [f"{path}.{part}" for part in parts] + [path]


def test_a_vit_has_seven_taps_per_block(vit):
    assert taps(vit) == ["blocks.0", "blocks.1", "blocks.2"]
    expected = [name for i in range(3) for name in block_names(f"blocks.{i}", BLOCK)]
    assert taps(vit, "all") == ["embed", *expected, "norm"]


def test_vit_taps_hold_the_terms_of_the_residual_equations(vit, images):
    t = read(vit, taps(vit, "all"), images)
    embedded = vit.norm_pre(vit.patch_drop(vit._pos_embed(vit.patch_embed(images))))
    assert torch.allclose(t["embed"], embedded, atol=1e-6)
    block = vit.blocks[0]
    attention = block.ls1(block.attn(block.norm1(embedded)))
    assert torch.allclose(t["blocks.0.attn_out"], attention, atol=1e-6)
    assert torch.allclose(t["blocks.0.after_attn"], embedded + attention, atol=1e-6)
    hidden = block.mlp.act(block.mlp.fc1(block.norm2(embedded + attention)))
    assert torch.allclose(t["blocks.0.mlp_hidden"], hidden, atol=1e-6)
    assert torch.allclose(t["blocks.0.mlp_out"], block.ls2(block.mlp.fc2(hidden)), atol=1e-6)
    assert torch.allclose(t["blocks.0"], t["blocks.0.after_attn"] + t["blocks.0.mlp_out"], atol=1e-6)


def test_resnet_taps_pair_norm_with_activation(resnet, images):
    names = taps(resnet, "all")
    assert names[:8] == ["conv1", "act1", "maxpool", *block_names("layer1.0", ["conv1", "act1", "conv2", "bn2"])]
    t = read(resnet, [*names, "layer1.0.bn1"], images)
    assert t["layer1.0.bn1"].min() < 0 <= t["layer1.0.act1"].min()  # the in-place ReLU did not reach back
    shortcut = resnet.layer1[0].downsample(t["maxpool"]) if resnet.layer1[0].downsample else t["maxpool"]
    assert torch.allclose((t["layer1.0.bn2"] + shortcut).relu(), t["layer1.0"], atol=1e-6)


def test_bit_taps(bit, images):
    names = taps(bit, "all")
    parts = ["norm1", "conv1", "norm2", "conv2", "norm3", "conv3"]
    assert names[:2] == ["stem.conv", "stem.pool"] and names[-1] == "norm"
    assert names[2:9] == block_names("stages.0.blocks.0", parts)
    t = read(bit, names, images)
    shortcut = bit.stages[0].blocks[0].downsample(t["stages.0.blocks.0.norm1"])
    assert torch.allclose(t["stages.0.blocks.0.conv3"] + shortcut, t["stages.0.blocks.0"], atol=1e-5)


def test_mixer_taps_tell_the_two_calls_of_one_module_apart(mixer, images):
    parts = ["norm1", "mix_out", "after_mix", "norm2", "mlp_hidden", "mlp_out"]
    assert taps(mixer, "all") == ["embed", *block_names("blocks.0", parts), *block_names("blocks.1", parts), "norm"]
    t = read(mixer, taps(mixer, "all"), images)
    assert torch.allclose(t["embed"] + t["blocks.0.mix_out"], t["blocks.0.after_mix"], atol=1e-6)
    assert torch.allclose(t["blocks.0.after_mix"] + t["blocks.0.mlp_out"], t["blocks.0"], atol=1e-6)


@pytest.mark.parametrize(("name", "options"), [
    ("deit3_small_patch16_224", {"depth": 1}),
    ("vit_relpos_medium_patch16_cls_224", {"depth": 1}),
    ("vit_base_patch16_rpn_224", {"depth": 1, "embed_dim": 48, "num_heads": 3}),
    ("beit_base_patch16_224", {"depth": 1, "embed_dim": 48, "num_heads": 3}),
    ("eva02_tiny_patch14_224", {"depth": 1}),
    ("vit_small_r26_s32_224", {"depth": 1}),
    ("resmlp_12_224", {}),
    ("gmlp_ti16_224", {}),
    ("xcit_nano_12_p16_224", {"depth": 1}),
    ("convnext_atto", {}),
])
def test_residual_sums_hold_in_every_family(name, options):
    torch.manual_seed(0)
    model = timm.create_model(name, pretrained=False, **options).eval()
    names = taps(model, "all")
    x = torch.randn(1, *model.pretrained_cfg["input_size"])
    t = read(model, names, x)
    assert list(t) == names  # hooks fired in the order of the names
    for path, mix in re.findall(r"^(blocks\.\d+)\.after_(\w+)$", "\n".join(names), re.MULTILINE):
        index = int(path.split(".")[1])
        entry = t["embed"] if index == 0 else t[f"blocks.{index - 1}"]
        assert torch.allclose(entry + t[f"{path}.{mix}_out"], t[f"{path}.after_{mix}"], atol=1e-4)
        assert torch.allclose(t[f"{path}.after_{mix}"] + t[f"{path}.mlp_out"], t[path], atol=1e-4)


def test_a_hybrid_lists_its_convolutional_blocks_first():
    model = timm.create_model("vit_small_r26_s32_224", pretrained=False, depth=2)
    names = taps(model)
    assert names[0] == "patch_embed.backbone.stages.0.blocks.0" and names[-2:] == ["blocks.0", "blocks.1"]


class Backwards(nn.Module):
    """Registers its layers in another order than it calls them, calls one twice and one never."""

    def __init__(self) -> None:
        super().__init__()
        self.last, self.first, self.unused = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.act = nn.ReLU(inplace=True)
        self.alias = self.first

    def forward(self, x):
        return self.act(self.last(self.act(self.first(x))))


def test_any_module_in_execution_order():
    x = torch.randn(8, 4)
    model = Backwards()
    assert taps(model, images=x) == ["first", "act@0", "last", "act@1"]
    assert cka(model, x, layers=["last", "first"]).layers == ["first", "last"]
    t = read(model, ["first", "act@0", "act@1", "last"], x)
    assert torch.equal(t["act@0"], t["first"].relu()) and torch.equal(t["act@1"], t["last"].relu())
    assert torch.equal(read(model, ["alias"], x)["alias"], t["first"])


def test_names_that_cannot_be_read(vit, images):
    x, model = torch.randn(8, 4), Backwards()
    with pytest.raises(ValueError, match="'unused' is never called"):
        cka(model, x, layers=["unused"])
    with pytest.raises(ValueError, match=r"called 2 times.*act@0 … act@1"):
        cka(model, x, layers=["act"])
    with pytest.raises(ValueError, match=r"called 2 times"):
        cka(model, x, layers=["act@2"])
    with pytest.raises(ValueError, match=r"no layer 'blocks.1.attn_ot'; nearest names: .*blocks\.1\.attn_out"):
        cka(vit, images, layers=["blocks.1.attn_ot"])
    with pytest.raises(ValueError, match="does not say what it reads"):
        taps(model)
    with pytest.raises(ValueError, match="no layers"):
        cka(vit, images, layers=[])
    with pytest.raises(ValueError, match="'blocks' or 'all'"):
        taps(vit, "some")


def test_layers_may_be_named_by_a_word(vit, images):
    assert cka(vit, images, layers="all").layers == taps(vit, "all")
    assert cka(vit, images, layers="norm").layers == ["norm"]


def test_outputs_that_are_tuples_or_no_tensors(images):
    class Odd(nn.Module):
        def __init__(self, value) -> None:
            super().__init__()
            self.inner = nn.Identity()
            self.value = value

        def forward(self, x):
            return self.inner(self.value(x))

    assert cka(Odd(lambda x: (x, None)), images, layers=["inner"]).within[0, 0] == pytest.approx(1)
    with pytest.raises(TypeError, match="'inner' gives dict"):
        cka(Odd(lambda x: {"x": x}), images, layers=["inner"])


def test_no_hook_is_left_behind(vit, images):
    taps(vit, "all")
    with pytest.raises(RuntimeError), tapped(vit, find(vit, None, images), lambda i, t: None):
        raise RuntimeError
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in vit.modules())


def test_every_call_of_a_block_that_is_used_again_is_listed(vit, images):
    """One block at three places: the values must be those of three blocks with equal weights."""
    twin = copy.deepcopy(vit)
    vit.blocks[1] = vit.blocks[2] = vit.blocks[0]
    for i in (1, 2):
        twin.blocks[i].load_state_dict(twin.blocks[0].state_dict())
    assert taps(vit) == ["blocks.0@0", "blocks.0@1", "blocks.0@2"]
    named = {f"blocks.{k}{part}": f"blocks.0{part}@{k}" for k in range(3) for part in ["", *(f".{p}" for p in BLOCK)]}
    assert taps(vit, "all") == [named.get(name, name) for name in taps(twin, "all")]
    mine, theirs = read(vit, taps(vit, "all"), images), read(twin, taps(twin, "all"), images)
    assert all(torch.equal(mine[named.get(name, name)], values) for name, values in theirs.items())
    with pytest.raises(ValueError, match=r"called 3 times in one pass: say blocks\.0@0 … blocks\.0@2"):
        cka(vit, images, layers=["blocks.1"])


def test_a_part_that_several_blocks_share_is_read_in_each(vit, images):
    names, twin = taps(vit, "all"), copy.deepcopy(vit)
    vit.blocks[1].mlp = vit.blocks[0].mlp
    twin.blocks[1].mlp.load_state_dict(twin.blocks[0].mlp.state_dict())
    assert taps(vit, "all") == names
    mine, theirs = read(vit, names, images), read(twin, names, images)
    assert all(torch.equal(mine[name], theirs[name]) for name in names)


class Chooses(nn.Module):
    """Takes another way when there is more than one image."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.many = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.one(x) if len(x) == 1 else self.many(x)


def test_a_layer_that_is_never_reached_is_named():
    for measure in (cka, features):
        with pytest.raises(ValueError, match=r"'one'.*never reached"):
            measure(Chooses(), torch.randn(8, 4), layers=["one"])


class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x)


def test_complex_numbers_are_refused_with_their_layer():
    model = nn.Sequential(nn.Linear(4, 4), Spectrum())
    for measure in (cka, features):
        with pytest.raises(ValueError, match=r"'1' gives complex numbers.*imaginary"):
            measure(model, torch.randn(8, 4), layers=["1"])


class Windows(nn.Module):
    """Cuts 8 features into two rows of 4 and joins them again: rows in the middle are no images."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.inner, self.last = nn.Linear(8, 8), nn.Linear(4, 4), nn.Linear(8, 8)

    def forward(self, x):
        return self.last(self.inner(self.first(x).reshape(-1, 4)).reshape(-1, 8))


def test_rows_that_are_not_images_are_refused_or_left_out():
    x = torch.randn(8, 8)
    with pytest.raises(ValueError, match="'inner' gives 2 rows for one image"):
        features(Windows(), x, "inner")
    with pytest.warns(UserWarning, match="left out.*inner"):
        assert cka(Windows(), x, layers="all").layers == ["first", "last"]


def test_tokens_in_front_are_not_taken_for_images():
    """As many tokens as images: the sizes alone would fit."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=False)
    model = nn.Sequential(nn.Flatten(2), Swapped(), layer)
    with pytest.raises(ValueError, match="'2' gives 16 rows for one image"):
        cka(model, torch.randn(16, 16, 2, 4), layers=["2"])


class Swapped(nn.Module):
    def forward(self, x):
        return x.transpose(0, 1)


def test_a_wrapper_hides_no_head(vit, images):
    wrapped = nn.DataParallel(vit)
    assert taps(wrapped, "all", images) == [name if name == "embed" else f"module.{name}" for name in taps(vit, "all")]


class Quantised(nn.Module):
    def forward(self, x):
        return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)


@pytest.mark.filterwarnings("ignore")
def test_quantised_layers_are_named():
    with pytest.raises(ValueError, match="'1' gives quantised numbers"):
        cka(nn.Sequential(nn.Linear(4, 4), Quantised()), torch.randn(8, 4), layers=["1"])


@pytest.mark.parametrize("name", ["tnt_s_patch16_224", "visformer_tiny"])
def test_a_size_that_a_model_asserts_is_named(name):
    with pytest.raises(ValueError, match="cannot read images of shape"):
        taps(timm.create_model(name, img_size=64))
