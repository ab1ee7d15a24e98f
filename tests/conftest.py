"""Small networks of every family, and a device that is not the CPU."""

from __future__ import annotations

import pytest
import torch
from torch import nn

try:  # before any backward pass: autograd counts the devices at the first one
    import simulated_gpu
except (ImportError, AttributeError):  # torch < 2.10
    simulated_gpu = None

torch.set_num_threads(1)


def _settled(model: nn.Module) -> nn.Module:
    """Random norms, scales and weights instead of a fresh network's ones and zeros, so that every layer matters."""
    with torch.no_grad():
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            if tensor.dim() > 1:
                tensor.normal_(0, tensor[0].numel() ** -0.5)
            elif tensor.dim() == 1:
                tensor.uniform_(0.5, 1.5) if name.endswith(("weight", "var", "gamma")) else tensor.normal_(0, 0.1)
    return model.eval()


@pytest.fixture
def vit() -> nn.Module:
    """Three blocks, class token, 4×4 patches of 8 px, LayerScale and qk_norm."""
    from timm.models.vision_transformer import VisionTransformer

    torch.manual_seed(0)
    return _settled(VisionTransformer(img_size=32, patch_size=8, embed_dim=24, depth=3, num_heads=3, num_classes=5,
                                      init_values=0.1, qk_norm=True))


@pytest.fixture
def resnet() -> nn.Module:
    """Four basic blocks with BatchNorm and in-place ReLU."""
    from timm.models.resnet import BasicBlock, ResNet

    torch.manual_seed(1)
    return _settled(ResNet(BasicBlock, layers=(1, 1, 1, 1), channels=(8, 12, 16, 20), stem_width=8, num_classes=5,
                           zero_init_last=False))


@pytest.fixture
def bit() -> nn.Module:
    """Pre-activation bottlenecks with GroupNorm, projection shortcuts in the first block of each stage."""
    from functools import partial

    from timm.layers import GroupNormAct
    from timm.models.resnetv2 import ResNetV2

    torch.manual_seed(2)
    model = _settled(ResNetV2(layers=(2, 1), channels=(16, 24), stem_chs=8, num_classes=5,
                              norm_layer=partial(GroupNormAct, num_groups=4)))
    for name, tensor in model.named_parameters():
        if name.endswith("norm3.bias"):
            nn.init.constant_(tensor, 3)  # few channels: without it some positions add exactly nothing
    return model


@pytest.fixture
def mixer() -> nn.Module:
    """Two Mixer blocks on 4×4 patches."""
    from timm.models.mlp_mixer import MlpMixer

    torch.manual_seed(3)
    return _settled(MlpMixer(img_size=32, patch_size=8, num_blocks=2, embed_dim=16, num_classes=5))


@pytest.fixture
def images() -> torch.Tensor:
    """24 images [24, 3, 32, 32] with a little structure, so that layers are neither equal nor independent."""
    generator = torch.Generator().manual_seed(4)
    coarse, fine = torch.randn(24, 3, 4, 4, generator=generator), torch.randn(24, 3, 32, 32, generator=generator)
    return nn.functional.interpolate(coarse, size=32, mode="bilinear") + 0.3 * fine


@pytest.fixture
def simulated() -> torch.device:
    """A device that is not the CPU and refuses to mix with it."""
    if simulated_gpu is None:
        pytest.skip(f"torch {torch.__version__} cannot simulate a device")
    return simulated_gpu.DEVICE


@pytest.fixture(params=["simulated", *(["cuda"] if torch.cuda.is_available() else [])])
def accelerator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.device:
    """The simulated device, and the real one where there is one."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # so that results can be compared with the CPU's
    return request.getfixturevalue("simulated") if request.param == "simulated" else torch.device(request.param)
