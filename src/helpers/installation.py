"""One line that says whether everything the notebooks need is here, or one line for each thing that is not.

    from helpers import checkup
    checkup()
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib import metadata

import timm
import torch
from packaging.requirements import Requirement

from .claims.render import LANGUAGES
from .inputs import bundled
from .lab import runs as lab
from .networks.zoo import load_model
from .runtime.device import pick_device

Texts = dict[str, str]  # {"en": …, "ko": …}
# What pyproject.toml asks for; a test keeps the two equal. A clone that is not installed has no list of its own.
PACKAGES = (
    "anywidget>=0.9.13", "huggingface-hub>=0.26", "ipython>=7.34", "ipywidgets>=7.7.1", "lazy-loader>=0.4",
    "matplotlib>=3.8", "numpy>=1.26", "packaging>=23", "pandas>=2.1", "pillow>=10", "pyyaml>=6", "safetensors>=0.4.3",
    "scikit-learn>=1.4", "scipy>=1.11", "seaborn>=0.13", "timm>=1.0.26", "torch>=2.5", "torchvision>=0.20",
    "tqdm>=4.66", "traitlets>=5.7.1",
)  # fmt: skip
TRIED, TRIED_ON = "vit_cls", 500  # the network that is run, and on how many bundled images


class Faults(Exception):
    """What a check found wrong, a text in both languages for each thing."""

    def __init__(self, problems: Sequence[Texts]):
        self.problems = problems


@dataclass(frozen=True)
class Checkup:
    """What is wrong and what is right, in both languages."""

    problems: list[Texts]
    facts: list[Texts]

    @property
    def ok(self) -> bool:
        return not self.problems

    def lines(self, lang: str) -> list[str]:
        """One line if everything works, otherwise one for each problem."""
        if self.problems:
            return [f"✗ {problem[lang]}" for problem in self.problems]
        works = {"en": "Everything works", "ko": "모두 정상"}[lang]
        return [f"✓ {works}: {' · '.join(fact[lang] for fact in self.facts)}"]

    def __repr__(self) -> str:
        return "\n".join(line for lang in LANGUAGES for line in self.lines(lang))

    def _repr_html_(self) -> str:
        return "".join(f'<p class="feedback bi" lang="{lang}">{escape(line)}</p>'
                       for lang in LANGUAGES for line in self.lines(lang))


def checkup() -> Checkup:
    """Packages, weights, images, explorers, then a network on this machine's device. Takes a few seconds.

    Later checks rest on earlier ones, so they wait until those find nothing: one fault makes one line.
    """
    problems: list[Texts] = []
    facts: list[Texts] = []
    for together in ((packages,), (weights, images, explorers), (network,)):
        for check in together:
            try:
                facts.append(check())
            except Faults as found:
                problems += found.problems
            except Exception as error:
                problems.append(_unexpected(check, error))
        if problems:
            break
    return Checkup(problems, facts)


def packages() -> Texts:
    """Versions, if no package is missing or too old."""
    problems = []
    for requirement in map(Requirement, PACKAGES):
        name, fix = requirement.name, f'`pip install "{requirement}"`'
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            problems.append({"en": f"{name} is not installed: {fix}.", "ko": f"{name}: 설치되어 있지 않다. {fix}"})
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            problems.append({"en": f"{name} {version} is too old: {fix}.",
                             "ko": f"{name} {version}: 너무 옛날 판이다. {fix}"})
    if problems:
        raise Faults(problems)
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, timm {timm.__version__}"
    return {"en": versions, "ko": versions}


def weights() -> Texts:
    """The number of networks, if the SHA-256 of each is the one that its NAME.json gives."""
    manifest = lab.read_manifest()
    if not manifest:
        raise Faults([{"en": f"There are no networks in {lab.WEIGHTS}: install the book again.",
                       "ko": f"{lab.WEIGHTS}에 신경망이 없다. 책을 다시 설치하자."}])
    path = lambda name: lab.WEIGHTS / f"{name}.safetensors"
    missing = [name for name in manifest if not path(name).is_file()]
    altered = [name for name in manifest if name not in missing and lab.sha256(path(name)) != manifest[name]["sha256"]]
    problems = []
    if missing:
        names = ", ".join(missing)
        problems.append({"en": f"No weights of {names} in {lab.WEIGHTS}: restore them with git or install again.",
                         "ko": f"{lab.WEIGHTS}에 가중치가 없다: {names}. git으로 되살리거나 책을 다시 설치하자."})
    if altered:
        names = ", ".join(altered)
        problems.append({"en": f"The weights of {names} are not those that the .json beside them describes (SHA-256 "
                               "differs): damaged or swapped; restore them with git or install again.",
                         "ko": f"가중치가 옆에 있는 .json의 기록과 다르다(SHA-256 불일치): {names}. 망가졌거나 바뀐 "
                               "파일이다. git으로 되살리거나 책을 다시 설치하자."})
    if problems:
        raise Faults(problems)
    return {"en": f"{len(manifest)} networks intact", "ko": f"신경망 {len(manifest)}개 이상 없음"}


def images() -> Texts:
    """The number of bundled images, every one of them decoded."""
    splits = ("test", "train")
    wanted = ["labels.json", *(f"{name}_{split}.webp" for name in bundled.BUNDLED for split in splits)]
    if missing := ", ".join(name for name in wanted if not (bundled.ASSETS / name).is_file()):
        raise Faults([{"en": f"No {missing} in {bundled.ASSETS}: restore them with git or install again.",
                       "ko": f"{bundled.ASSETS}에 이미지 파일이 없다: {missing}. git으로 되살리거나 책을 다시 "
                             "설치하자."}])
    names = [*bundled.BUNDLED, "digits"]
    count = sum(len(bundled.load_images(name, split=split)) for name in names for split in splits)
    return {"en": f"{count:,} images", "ko": f"이미지 {count:,}장"}


def explorers() -> Texts:
    """The form of an explorer made here: live, unless the book is being built. What a browser shows is not seen."""
    from .explore import cka_bias_explorer  # only here: without anywidget the other checks should still run
    from .explore.base import LiveExplorer

    explorer = cka_bias_explorer()
    if not isinstance(explorer, LiveExplorer):
        return {"en": "explorers as in the built book", "ko": "탐색기는 책 페이지용"}
    explorer.close()
    return {"en": "explorers live", "ko": "탐색기는 실시간"}


@torch.no_grad()
def network() -> Texts:
    """The device, if a network on it is as accurate as its .json says, within four standard errors."""
    device, shown = pick_device(), bundled.load_images("cifar10", TRIED_ON)
    logits = load_model(TRIED).to(device)(bundled.normalise(shown.raw).to(device))  # type: ignore[union-attr]
    right = (logits.argmax(1).cpu() == shown.labels).double().mean().item()
    expected = lab.read_manifest()[TRIED]["test_accuracy"]
    if abs(right - expected) > 4 * math.sqrt(expected * (1 - expected) / TRIED_ON):
        raise Faults([{"en": f"{TRIED} is right on {right:.0%} of {TRIED_ON} images on {device}, but {TRIED}.json says "
                             f"{expected:.0%}: this device or these packages compute something else.",
                       "ko": f"{TRIED}: {device}에서 이미지 {TRIED_ON}장의 정확도가 {right:.0%}인데 {TRIED}.json에는 "
                             f"{expected:.0%}로 적혀 있다. 이 장치나 패키지가 다른 값을 계산한다."}])
    place = f"{device} ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else str(device)
    return {"en": f"{TRIED} right on {right:.0%} of {TRIED_ON} images, on {place}",
            "ko": f"{TRIED}의 정확도 {right:.0%}(이미지 {TRIED_ON}장), 장치 {place}"}


def _unexpected(check: Callable[[], Texts], error: Exception) -> Texts:
    """An error that a check ran into, as one line."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    korean = {"packages": "패키지", "images": "이미지", "explorers": "탐색기", "weights": "가중치", "network": "신경망"}
    name = check.__name__
    return {"en": f"Trouble with the {name}: {reason}", "ko": f"{korean[name]} 점검에서 오류가 났다. {reason}"}


if __name__ == "__main__":
    print(checkup())
