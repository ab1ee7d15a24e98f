"""The lab's networks as ONNX files that say more than the class: what the studio shows of one image.

inputs      image [n, 3, 32, 32], red, green and blue from 0 to 1; skips [blocks], what each block's skip is multiplied
            by; positions [1], the same for the position embeddings (ViTs only)
outputs     lens [n, blocks, classes], the class as the head would name it after each block (of a ResNet's last stage)
            features [n, …], the output of every block, one after another; `Export.blocks` has their shapes
            ratios [n, branches, places], ‖z‖ / ‖f(z)‖ as in helpers.norm_ratio
            attention [n, blocks, heads, tokens, tokens] (ViTs only)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from timm.layers import GroupNormAct, PatchEmbed, StdConv2d
from timm.models.mlp_mixer import MixerBlock, MlpMixer
from timm.models.resnetv2 import PreActBottleneck, ResNetV2
from timm.models.vision_transformer import Attention, Block, VisionTransformer
from torch import Tensor, nn

from helpers.lab.architectures import ConvStem

from .onnx_file import Graph


@dataclass(frozen=True)
class Export:
    """One network's file, and what a reader of its outputs has to know."""

    file: bytes
    blocks: list[list[int]]  # shape of each block's output: [tokens, width] or [channels, rows, columns]
    prefix: int  # tokens before the patches
    heads: int  # of each attention layer; 0 if there is no attention
    positions: bool  # whether position embeddings can be turned off

    def about(self) -> dict[str, Any]:
        """All but the file."""
        facts = asdict(self)
        del facts["file"]
        return facts


def export(model: nn.Module) -> Export:
    """The file of a lab ViT, hybrid, Mixer or ResNet."""
    for kind, build in ((VisionTransformer, _Vit), (MlpMixer, _Mixer), (ResNetV2, _ResNet)):
        if type(model) is kind:
            return build(model).export()
    raise ValueError(f"The studio runs the lab's ViTs, hybrids, Mixers and ResNets, not a {type(model).__name__}.")


def rounded(model: nn.Module) -> nn.Module:
    """The network with weights rounded to float16, as its file has them. Shipped weights already are."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(weight.half().float())
    return model


def _require(what: bool, part: nn.Module, wanted: str) -> None:
    if not what:
        raise ValueError(f"The studio cannot export a {type(part).__name__} here: it knows {wanted} only.")


class _Network:
    """What all networks share: their inputs and outputs, and the layers they are made of."""

    def __init__(self, model: Any) -> None:
        self.model, self.graph = model, Graph()
        self.op = self.graph.op
        config = model.pretrained_cfg
        mean, std = ([[[value]] for value in config[key]] for key in ("mean", "std"))
        image = self.graph.input("image", ["n", *config["input_size"]])
        self.image = self.op("Div", self.op("Sub", image, mean), std)
        self.skips = ""  # the input, once it is known how many blocks there are
        self.lens: list[str] = []
        self.features: list[str] = []
        self.shapes: list[list[int]] = []
        self.ratios: list[str] = []

    def outputs(self, branches: int, places: int | str, **more: Any) -> Export:
        """Write the outputs; the blocks have been run."""
        lens = [self.op("Unsqueeze", logits, [1]) for logits in self.lens]
        self.graph.output("lens", self.op("Concat", *lens, axis=1), ["n", len(lens), self.model.num_classes])
        flat = [self.op("Flatten", block) for block in self.features]
        numbers = sum(int(torch.tensor(shape).prod()) for shape in self.shapes)
        self.graph.output("features", self.op("Concat", *flat, axis=1), ["n", numbers])
        self.graph.output("ratios", self.op("Concat", *self.ratios, axis=1), ["n", branches, places])
        return Export(self.graph.file(), self.shapes, **{"prefix": 0, "heads": 0, "positions": False} | more)

    def add(self, skip: str, branch: str, block: int, channel: int) -> str:
        """skips[block] · skip + branch; the ratio of their lengths is noted, whatever the factor."""
        length = lambda z: self.op("ReduceL2", z, [channel], keepdims=0)
        ratio = self.op("Div", length(skip), length(branch))
        if channel == 1:  # mean over rows and columns
            ratio = self.op("ReduceMean", ratio, [1, 2], keepdims=0)
            ratio = self.op("Unsqueeze", ratio, [1])
        self.ratios.append(self.op("Unsqueeze", ratio, [1]))
        return self.op("Add", self.op("Mul", skip, self.op("Gather", self.skips, [block])), branch)

    def linear(self, x: str, layer: Any) -> str:
        """[…, in] → […, out]; a 1×1 convolution stands for a linear layer in timm's ResNet heads."""
        product = self.op("MatMul", x, self.op("Transpose", self.weight(layer.weight.flatten(1)), perm=[1, 0]))
        return self.op("Add", product, self.weight(layer.bias)) if layer.bias is not None else product

    def layer_norm(self, x: str, norm: Any) -> str:
        """Over the last axis."""
        if isinstance(norm, nn.Identity):
            return x
        _require(isinstance(norm, nn.LayerNorm), norm, "LayerNorm")
        return self.op("LayerNormalization", x, self.weight(norm.weight), self.weight(norm.bias), epsilon=norm.eps)

    def mlp(self, x: str, mlp: Any) -> str:
        """Two linear layers with GELU between."""
        _require(isinstance(mlp.act, nn.GELU) and isinstance(mlp.norm, nn.Identity), mlp, "GELU without a norm")
        return self.linear(self.op("Gelu", self.linear(x, mlp.fc1)), mlp.fc2)

    def convolution(self, x: str, layer: Any) -> str:
        """A convolution; the weights of a StdConv2d are standardised here too, so that the file has them as shipped."""
        weight = self.weight(layer.weight)
        if isinstance(layer, StdConv2d):
            centred = self.op("Sub", weight, self.op("ReduceMean", weight, [1, 2, 3], keepdims=1))
            variance = self.op("ReduceMean", self.op("Mul", centred, centred), [1, 2, 3], keepdims=1)
            weight = self.op("Div", centred, self.op("Sqrt", self.op("Add", variance, layer.eps)))
        bias = [self.weight(layer.bias)] if layer.bias is not None else []
        return self.op("Conv", x, weight, *bias, kernel_shape=list(layer.kernel_size), strides=list(layer.stride),
                       pads=[*layer.padding, *layer.padding])

    def group_norm(self, x: str, norm: Any) -> str:
        """GroupNorm and ReLU, [n, channels, rows, columns]."""
        _require(isinstance(norm, GroupNormAct) and isinstance(norm.act, nn.ReLU), norm, "GroupNorm with ReLU")
        groups = norm.num_groups
        grouped = self.op("Reshape", x, [0, groups, -1])
        even = self.op("InstanceNormalization", grouped, [1.0] * groups, [0.0] * groups, epsilon=norm.eps)
        even = self.op("Reshape", even, self.op("Shape", x))
        scale, shift = (self.weight(part[:, None, None]) for part in (norm.weight, norm.bias))
        return self.op("Relu", self.op("Add", self.op("Mul", even, scale), shift))

    def weight(self, value: Tensor) -> str:
        """A weight of the network."""
        return self.graph.weight(value.detach().numpy())


class _Vit(_Network):
    """timm's VisionTransformer as the lab builds it."""

    def export(self) -> Export:
        """All of it."""
        model, op = self.model, self.op
        grid, prefix = model.patch_embed.grid_size, model.num_prefix_tokens
        tokens = grid[0] * grid[1] + prefix
        _require(model.pos_embed is not None and model.pos_embed.shape[1] == tokens, model, "learned positions")
        positions = self.graph.input("positions", [1])
        self.skips = self.graph.input("skips", [len(model.blocks)])
        x = self.patches(model.patch_embed)
        if model.cls_token is not None:
            count = op("Shape", x, start=0, end=1)
            first = op("Expand", self.weight(model.cls_token), op("Concat", count, [1, model.embed_dim], axis=0))
            x = op("Concat", first, x, axis=1)
        x = op("Add", x, op("Mul", self.weight(model.pos_embed), positions))
        maps = []
        for i, block in enumerate(model.blocks):
            _require(type(block) is Block and type(block.attn) is Attention, block, "blocks with both skips")
            _require(isinstance(block.ls1, nn.Identity), block, "blocks without LayerScale")
            attended, weights = self.attention(self.layer_norm(x, block.norm1), block.attn)
            maps.append(op("Unsqueeze", weights, [1]))
            x = self.add(x, attended, i, -1)
            x = self.add(x, self.mlp(self.layer_norm(x, block.norm2), block.mlp), i, -1)
            self.features.append(x)
            self.shapes.append([tokens, model.embed_dim])
            self.lens.append(self.head(x))
        depth, heads = len(model.blocks), model.blocks[0].attn.num_heads
        self.graph.output("attention", op("Concat", *maps, axis=1), ["n", depth, heads, tokens, tokens])
        return self.outputs(2 * depth, tokens, prefix=prefix, heads=heads, positions=True)

    def patches(self, embed: Any) -> str:
        """[n, 3, rows, columns] → [n, patches, width]"""
        layers: Any = embed.proj
        if type(embed) is ConvStem:
            x = self.image
            for layer in layers:
                x = self.group_norm(x, layer) if isinstance(layer, GroupNormAct) else self.convolution(x, layer)
        else:
            _require(type(embed) is PatchEmbed, embed, "patches and the hybrid's stem")
            x = self.convolution(self.image, layers)
        return self.op("Transpose", self.op("Reshape", x, [0, 0, -1]), perm=[0, 2, 1])

    def attention(self, x: str, attn: Any) -> tuple[str, str]:
        """What attention adds, [n, tokens, width], and its weights [n, heads, tokens, tokens]."""
        op, heads, d = self.op, attn.num_heads, attn.head_dim
        qkv = op("Transpose", op("Reshape", self.linear(x, attn.qkv), [0, 0, 3, heads, d]), perm=[2, 0, 3, 1, 4])
        q, k, v = (op("Gather", qkv, i, axis=0) for i in range(3))
        q, k = self.layer_norm(q, attn.q_norm), self.layer_norm(k, attn.k_norm)
        logits = op("MatMul", op("Mul", q, float(attn.scale)), op("Transpose", k, perm=[0, 1, 3, 2]))
        weights = op("Softmax", logits, axis=-1)
        mixed = op("Transpose", op("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.linear(op("Reshape", mixed, [0, 0, heads * d]), attn.proj), weights

    def head(self, x: str) -> str:
        """Logits [n, classes] from the tokens of any block."""
        model = self.model
        _require(model.global_pool in ("token", "avg"), model, "a class token or the mean of the patches")
        x = self.layer_norm(x, model.norm)
        if model.global_pool == "token":
            x = self.op("Gather", x, 0, axis=1)
        else:
            x = self.op("ReduceMean", x, [1], keepdims=0)
        return self.linear(self.layer_norm(x, model.fc_norm), model.head)


class _Mixer(_Network):
    """timm's MlpMixer."""

    def export(self) -> Export:
        """All of it."""
        model, op = self.model, self.op
        self.skips = self.graph.input("skips", [len(model.blocks)])
        x = op("Reshape", self.convolution(self.image, model.stem.proj), [0, 0, -1])
        x = op("Transpose", x, perm=[0, 2, 1])
        tokens, width = model.stem.num_patches, model.stem.proj.out_channels
        turned = lambda x: op("Transpose", x, perm=[0, 2, 1])
        for i, block in enumerate(model.blocks):
            _require(type(block) is MixerBlock, block, "Mixer blocks with both skips")
            mixed = turned(self.mlp(turned(self.layer_norm(x, block.norm1)), block.mlp_tokens))
            x = self.add(x, mixed, i, -1)
            x = self.add(x, self.mlp(self.layer_norm(x, block.norm2), block.mlp_channels), i, -1)
            self.features.append(x)
            self.shapes.append([tokens, width])
            mean = op("ReduceMean", self.layer_norm(x, model.norm), [1], keepdims=0)
            self.lens.append(self.linear(mean, model.head))
        return self.outputs(2 * len(model.blocks), tokens)


class _ResNet(_Network):
    """timm's ResNetV2 with pre-activation bottlenecks."""

    def export(self) -> Export:
        """All of it; the head fits the blocks of the last stage only."""
        model = self.model
        blocks = [block for stage in model.stages for block in stage.blocks]
        self.skips = self.graph.input("skips", [len(blocks)])
        x, side = self.convolution(self.image, model.stem.conv), model.pretrained_cfg["input_size"][1]
        for i, block in enumerate(blocks):
            _require(type(block) is PreActBottleneck, block, "pre-activation bottlenecks")
            before = self.group_norm(x, block.norm1)
            skip = x if block.downsample is None else self.convolution(before, block.downsample.conv)
            branch = self.convolution(before, block.conv1)
            branch = self.convolution(self.group_norm(branch, block.norm2), block.conv2)
            branch = self.convolution(self.group_norm(branch, block.norm3), block.conv3)
            x = self.add(skip, branch, i, 1)
            side //= block.conv2.stride[0]
            self.features.append(x)
            self.shapes.append([block.conv3.out_channels, side, side])
            if block in list(model.stages[-1].blocks):
                mean = self.op("ReduceMean", self.group_norm(x, model.norm), [2, 3], keepdims=0)
                self.lens.append(self.linear(mean, model.head.fc))
        return self.outputs(len(blocks), 1)
