"""The exported networks in the reader's browser: every output is what PyTorch gives, within the stated tolerance.

float32 sums are taken in another order there. Logits, attention and probabilities agree to 1e-4, norm ratios to a ten
thousandth of themselves, CKA to 1e-5.
"""

from __future__ import annotations

import base64
import itertools

import numpy as np
import pytest
import torch
from visitor import Visitor

from bookbuild.studio.exports import rounded
from bookbuild.studio.files import NETWORKS, network_key
from helpers import (
    attention_distance,
    attention_maps,
    attention_rollout,
    cka,
    linear_cka,
    load_images,
    load_model,
    norm_ratio,
)
from helpers.inputs.variants import shifted
from helpers.metrics.surgery import without_skip

TOLERANCE, CKA_TOLERANCE, IMAGES = 1e-4, 1e-5, 50
VITS = ("vit_cls", "vit_gap", "hybrid")
EVERY = list(itertools.product(NETWORKS, (True, False)))
# Many numbers go back and forth as bytes in base64: as JSON they would take minutes.
RUN = """async ([name, images, settings, wanted]) => {
  globalThis.studio ??= studioFile("about").then(async about => ({ about, engine: await startEngine(about) }));
  const { about, engine } = await studio, answers = Object.fromEntries(wanted.map(key => [key, []]));
  await engine.open(name);
  const bytes = bytesOfText(images), read = {
    lens: answer => answer.lens.data, ratios: answer => answer.ratios.data,
    attention: answer => answer.attention.data, rollout: (_, reader) => reader.rollout(5, 0),
    distances: (_, reader) => Float32Array.from(reader.distances().flat()),
  };
  for (let at = 0; at < bytes.length; at += 3072) {
    const image = asInput(new Uint8ClampedArray(bytes.slice(at, at + 3072)));
    const answer = await engine.ask("look", { name, image, settings });
    const reader = lookReader(answer, about.networks[name], settings.cut ?? -1);
    for (const key of wanted) answers[key].push(new Uint8Array(read[key](answer, reader).slice().buffer));
  }
  const text = all => Promise.all(all.map(async one => (await new Promise(done => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(new Blob([one]));
  })).split(",")[1]));
  return Object.fromEntries(await Promise.all(wanted.map(async key => [key, await text(answers[key])])));
}"""


@pytest.fixture(scope="module")
def page(browser, studio_site, serve):
    """The functions of the studio on a page; nothing may go wrong on it."""
    address = serve(studio_site)
    visitor = Visitor(browser, address)
    visitor.page.goto(f"{address}/en/harness.html")
    yield visitor.page
    assert visitor.troubles == []
    visitor.context.close()


@pytest.fixture(scope="module")
def images():
    return load_images(n=IMAGES)


def pixels(images) -> str:
    """[image, row, column, colour] in base64."""
    return base64.b64encode(images.raw.permute(0, 2, 3, 1).contiguous().numpy().tobytes()).decode()


def look(page, name: str, images, wanted: str, **settings) -> np.ndarray:
    """One output of a network for every image, [images, numbers]."""
    answers = page.evaluate(RUN, [name, pixels(images), settings, [wanted]])[wanted]
    return np.stack([np.frombuffer(base64.b64decode(answer), "<f4") for answer in answers])


def network(name: str, trained: bool = True):
    """What the file holds."""
    return rounded(load_model(name, trained=trained))


def lens_of(model, x: torch.Tensor) -> np.ndarray:
    """Logits after every block for which the head is made, [n, blocks, classes]."""
    stages = getattr(model, "stages", None)
    blocks = list(stages[-1].blocks) if stages is not None else list(model.blocks)
    seen: list[torch.Tensor] = []
    hooks = [block.register_forward_hook(lambda m, i, out: seen.append(out.clone())) for block in blocks]
    with torch.no_grad():
        model(x)
        logits = [model.forward_head(model.norm(tokens)) for tokens in seen]
    for hook in hooks:
        hook.remove()
    return torch.stack(logits, 1).numpy()


@pytest.mark.parametrize(("name", "trained"), EVERY)
def test_lens_and_norm_ratios_are_pytorchs(page, images, name, trained):
    model = network(name, trained)
    key = network_key(name, trained)
    lens = look(page, key, images, "lens").reshape(IMAGES, -1, 10)
    assert np.abs(lens - lens_of(model, images.tensor)).max() < TOLERANCE
    with torch.no_grad():
        assert np.abs(lens[:, -1] - model(images.tensor).numpy()).max() < TOLERANCE
    measured = norm_ratio(model, images, progress=False).ratio
    kinds = [measured[kind] if measured[kind].ndim == 2 else measured[kind][:, None] for kind in measured]
    expected = np.stack(kinds, 1)  # [blocks, branches of a block, places]
    ratios = look(page, key, images, "ratios").mean(0).reshape(expected.shape)
    assert np.abs(ratios / expected - 1).max() < TOLERANCE


@pytest.mark.parametrize(("name", "trained"), list(itertools.product(VITS, (True, False))))
def test_attention_is_pytorchs(page, images, name, trained):
    model = network(name, trained)
    key, maps = network_key(name, trained), attention_maps(model, images, progress=False).values
    assert np.abs(look(page, key, images, "attention").reshape(maps.shape) - maps).max() < TOLERANCE
    distance = attention_distance(model, images, progress=False).pixels
    mine = look(page, key, images, "distances").mean(0).reshape(distance.shape)
    assert np.abs(mine - distance).max() < 1e-3  # pixels


def test_rollout_is_the_books(page, images):
    model = network("vit_cls")
    expected = attention_rollout(model, images.take(4), progress=False)
    mine = look(page, "vit_cls", images.take(4), "rollout")[:, 1:]  # of [CLS], the patches
    theirs = np.asarray(expected.maps).reshape(4, -1)
    assert np.abs(mine / mine.sum(1, keepdims=True) - theirs / theirs.sum(1, keepdims=True)).max() < TOLERANCE


@pytest.mark.parametrize("name", ["vit_cls", "vit_gap", "hybrid", "mixer"])
def test_a_cut_skip_is_the_books(page, images, name):
    few = images.take(6)
    with torch.no_grad():
        expected = without_skip(network(name), 2)(few.tensor).numpy()
    assert np.abs(look(page, name, few, "lens", cut=2)[:, -10:] - expected).max() < TOLERANCE


@pytest.mark.parametrize("name", VITS)
def test_positions_can_be_turned_off(page, images, name):
    few, model = images.take(6), network(name)
    with torch.no_grad():
        model.pos_embed.zero_()
        expected = model(few.tensor).numpy()
    assert np.abs(look(page, name, few, "lens", positions=0)[:, -10:] - expected).max() < TOLERANCE


def test_cka_is_the_books(page, images):
    """Of all pairs of blocks, and the interval of one of them."""
    few = images.take(16)
    grams = page.evaluate("""async images => {
      const { engine } = await studio, bytes = bytesOfText(images);
      const image = i => asInput(new Uint8ClampedArray(bytes.slice(3072 * i, 3072 * (i + 1))));
      const list = Array.from({ length: 16 }, (_, i) => ({ key: `${i}`, image: image(i) }));
      for (const name of ["vit_cls", "resnet"]) await engine.open(name);
      const grams = (name, images) => engine.ask("grams", { name, images });
      await grams("vit_cls", list.slice(0, 5)); // in two steps: what is kept is used
      const a = await grams("vit_cls", list), b = await grams("resnet", list);
      return { map: ckaOf(a, b, 16), pair: ckaWithInterval(a[5], b[8], 16, 16), fewer: ckaOf(a, b, 16, 12) };
    }""", pixels(few))
    vit, resnet = network("vit_cls"), network("resnet")
    expected = cka(vit, few, resnet, batch_size=16, progress=False).cross
    assert np.abs(np.array(grams["map"]) - expected).max() < CKA_TOLERANCE
    fewer = cka(vit, few.take(12), resnet, batch_size=12, progress=False).cross
    assert np.abs(np.array(grams["fewer"]) - fewer).max() < CKA_TOLERANCE
    features = []
    for model, block in ((vit, vit.blocks[5]), (resnet, resnet.stages[2].blocks[2])):
        hook = block.register_forward_hook(lambda m, i, out: features.append(out.flatten(1)))
        with torch.no_grad():
            model(few.tensor)
        hook.remove()
    left = [[x[torch.arange(16) != i] for x in features] for i in range(16)]
    without = np.array([linear_cka(x, y) for x, y in left])
    error = np.sqrt(15 / 16 * ((without - without.mean()) ** 2).sum())
    assert grams["pair"]["value"] == pytest.approx(expected[5, 8], abs=CKA_TOLERANCE)
    assert grams["pair"]["high"] - grams["pair"]["low"] == pytest.approx(2 * 1.96 * error, abs=1e-4)


def test_content_is_what_covering_changes(page, images):
    few = images.take(1)
    content = page.evaluate("""async image => {
      const { about, engine } = await studio, answers = {};
      const input = asInput(new Uint8ClampedArray(bytesOfText(image)));
      for (const name of ["vit_cls", "resnet"]) {
        await engine.open(name);
        const blocks = await engine.ask("content", { name, image: input, settings: {}, grey: about.grey });
        answers[name] = blocks.map(block => Array.from(block));
      }
      return { answers, grey: about.grey };
    }""", pixels(few))
    grey = torch.tensor(content["grey"], dtype=torch.uint8)[:, None, None]
    whole = few.raw.repeat(65, 1, 1, 1)
    for patch in range(64):
        row, column = divmod(patch, 8)
        whole[patch, :, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = grey
    x = type(few)(whole, few.labels.repeat(65), few.classes, few.name).tensor
    for name, number, block in (("vit_cls", 3, lambda m: m.blocks[3]), ("resnet", 0, lambda m: m.stages[0].blocks[0])):
        model, seen = network(name), []
        hook = block(model).register_forward_hook(lambda m, i, out, seen=seen: seen.append(out))
        with torch.no_grad():
            model(x)
        hook.remove()
        if name == "vit_cls":
            change = (seen[0][:64] - seen[0][64]).norm(dim=-1)  # [covered, token]
        else:
            maps = (seen[0][:64] - seen[0][64]).norm(dim=1)
            change = torch.nn.functional.avg_pool2d(maps[:, None], 4)[:, 0].flatten(1)
        expected = (change / change.sum(0)).T.numpy()
        mine = np.array(content["answers"][name][number]).reshape(expected.shape)
        assert np.abs(mine - expected).max() < TOLERANCE


def test_changes_of_the_image(page, images):
    one = images.take(1)
    plain = {"turn": 0, "right": 0, "down": 0, "blur": 0, "order": 0, "cover": "0" * 16}

    def changed(**change) -> torch.Tensor:
        values = page.evaluate("""([image, change]) =>
          Array.from(changedImage(new Uint8ClampedArray(bytesOfText(image)), change, [1, 2, 3]))""",
                               [pixels(one), plain | change])
        return torch.tensor(values).view(32, 32, 3).permute(2, 0, 1)

    assert torch.equal(changed(), one.raw[0].long())
    assert torch.equal(changed(right=5, down=-3), shifted(one.raw, 5, -3)[0].long())
    assert torch.equal(changed(turn=90), one.raw[0].rot90(-1, (1, 2)).long())
    assert changed(turn=45)[:, 0, 0].tolist() == [1, 2, 3]  # a corner without image
    assert changed(blur=2).float().std() < one.raw.float().std()
    assert changed(blur=2).float().mean() == pytest.approx(one.raw.float().mean().item(), abs=2)
    cut = lambda image: image.unfold(1, 4, 4).unfold(2, 4, 4).permute(1, 2, 0, 3, 4).reshape(64, -1)
    order = page.evaluate("patchOrder(3)")
    assert sorted(order) == list(range(64)) != order
    assert torch.equal(cut(changed(order=3)), cut(one.raw[0].long())[order])
    cover = page.evaluate("withCover(withCover(NOTHING_COVERED, 9, true), 63, true)")
    covered = cut(changed(cover=cover))
    assert [i for i in range(64) if not torch.equal(covered[i], cut(one.raw[0].long())[i])] == [9, 63]
    assert page.evaluate("cover => withCover(withCover(cover, 9, false), 63, false)", cover) == "0" * 16
