"""As much of kustomize as deploy/k8s uses, so that its overlays can be checked without kubectl.

A test compares the result with that of `kubectl kustomize` where there is one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]
KNOWN = {
    "apiVersion",
    "kind",
    "resources",
    "components",
    "configMapGenerator",
    "generatorOptions",
    "patches",
    "labels",
    "images",
}


def build(folder: Path) -> list[Manifest]:
    """Return the manifests that a folder's kustomization stands for."""
    return _apply(folder, [])


def _apply(folder: Path, before: list[Manifest]) -> list[Manifest]:
    """Return what a kustomization makes of what was there before, which only a component sees."""
    given = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    assert set(given) <= KNOWN, f"{folder}: {set(given) - KNOWN} is not known here"
    made = [*before]
    for resource in given.get("resources", ()):
        place = (folder / resource).resolve()
        made += build(place) if place.is_dir() else _documents(place)
    made += [_generated(folder, each) for each in given.get("configMapGenerator", ())]
    for component in given.get("components", ()):
        made = _apply((folder / component).resolve(), made)
    for patch in given.get("patches", ()):
        [change] = _documents(folder / patch["path"])
        chosen = _chooser(patch["target"])
        assert any(map(chosen, made)), f"{folder}: {patch['path']} changes nothing"
        made = [_patched(each, change) if chosen(each) else each for each in made]
    for label in given.get("labels", ()):
        made = [_labelled(each, **label) for each in made]
    for image in given.get("images", ()):
        made = [_tagged(each, image) for each in made]
    return made


def _documents(file: Path) -> list[Manifest]:
    text = file.read_text(encoding="utf-8")
    # The safe loader, in C: the one in Python takes seconds for all files.
    return [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]


def _generated(folder: Path, given: Manifest) -> Manifest:
    data = {name: (folder / name).read_text(encoding="utf-8") for name in given["files"]}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": given["name"]},
        "data": data,
    }


def _chooser(target: dict[str, str]) -> Callable[[Manifest], bool]:
    wanted = re.fullmatch(r"(\S+) in \((.+)\)", target.get("labelSelector", ""))

    def chosen(manifest: Manifest) -> bool:
        labels = manifest["metadata"].get("labels", {})
        return (
            manifest["kind"] == target["kind"]
            and target.get("name") in (None, manifest["metadata"]["name"])
            and (wanted is None or labels.get(wanted[1]) in wanted[2].split(", "))
        )

    return chosen


def _patched(manifest: Manifest, change: Manifest) -> Manifest:
    return {**_merged(manifest, change), "metadata": manifest["metadata"]}


def _merged(before: Any, change: Any) -> Any:
    """Merge as a strategic merge patch does: lists of named things by name, others as a whole."""
    if isinstance(before, dict) and isinstance(change, dict):
        return before | {name: _merged(before.get(name), new) for name, new in change.items()}
    if _named(before) and _named(change):
        known = {each["name"]: each for each in before}
        return list(
            (known | {c["name"]: _merged(known.get(c["name"]), c) for c in change}).values()
        )
    return change


def _named(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, dict) and "name" in v for v in value)


def _labelled(
    manifest: Manifest,
    pairs: dict[str, str],
    includeTemplates: bool = False,  # noqa: N803
) -> Manifest:
    made = _merged(manifest, {"metadata": {"labels": pairs}})
    if includeTemplates and "template" in made.get("spec", {}):
        labelled = {"metadata": {"labels": pairs}}
        made = _merged(made, {"spec": {"template": labelled}})
        if claims := made["spec"].get("volumeClaimTemplates"):
            made["spec"]["volumeClaimTemplates"] = [_merged(c, labelled) for c in claims]
    return made


def _tagged(manifest: Manifest, image: dict[str, str]) -> Manifest:
    tagged = [
        {**each, "image": f"{image['name']}:{image['newTag']}"}
        for each in containers(manifest)
        if each["image"].partition(":")[0] == image["name"]
    ]
    change = {"spec": {"template": {"spec": {"containers": tagged}}}}
    return _merged(manifest, change) if tagged else manifest


def pod(manifest: Manifest) -> Manifest:
    """Return the pod that a manifest makes, if any."""
    spec: Manifest = manifest.get("spec", {}).get("template", {}).get("spec", {})
    return spec


def containers(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the containers of a manifest's pod."""
    yield from pod(manifest).get("containers", ())


def by_name(manifests: Iterable[Manifest]) -> dict[tuple[str, str], Manifest]:
    """Return manifests by kind and name."""
    return {(each["kind"], each["metadata"]["name"]): each for each in manifests}
