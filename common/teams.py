"""Teams are folders: `team.yaml` beside the Markdown files of its prompts."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from common.contracts import Team
from common.errors import TeamError

SHIPPED = Path(__file__).resolve().parent.parent / "teams"
MAX_BYTES = 256 * 1024


def folders(extra: tuple[Path, ...]) -> dict[str, Path]:
    """Return every team's folder by its name; a folder given later wins over a shipped one."""
    found: dict[str, Path] = {}
    for root in (SHIPPED, *extra):
        if not root.is_dir():
            raise TeamError(f"CHARGEHAND_TEAMS names {root}, which is not a folder")
        # A root may be a team itself, or hold several.
        candidates = [root] if (root / "team.yaml").is_file() else sorted(root.iterdir())
        found.update({f.name: f for f in candidates if (f / "team.yaml").is_file()})
    return found


def find(name: str, extra: tuple[Path, ...] = ()) -> Team:
    """Return the team of this name."""
    known = folders(extra)
    if name not in known:
        raise TeamError(f"no team {name!r}; known are: {', '.join(sorted(known))}")
    return load(known[name])


def load(folder: Path) -> Team:
    """Return the team that a folder describes, or say which file and field is wrong."""
    file = folder / "team.yaml"
    raw = _mapping(file)
    if raw.setdefault("name", folder.name) != folder.name:
        raise TeamError(f"{file}: name: is {raw['name']!r}; name it like its folder")
    prompts = raw.get("prompts")
    if isinstance(prompts, dict):
        raw["prompts"] = {
            name: _prompt(folder, f"prompts.{name}", value) if isinstance(value, str) else value
            for name, value in prompts.items()
        }
    specialists = raw.get("specialists")
    for name, specialist in specialists.items() if isinstance(specialists, dict) else ():
        if isinstance(specialist, dict) and isinstance(specialist.get("prompt"), str):
            field = f"specialists.{name}.prompt"
            specialist["prompt"] = _prompt(folder, field, specialist["prompt"])
    try:
        return Team.model_validate(raw)
    except ValidationError as error:
        raise TeamError(f"{file}: {'; '.join(_faults(error))}") from None


def _mapping(file: Path) -> dict[str, Any]:
    text = _read(file)
    try:
        raw = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # A date that does not exist is a ValueError, and nesting without end a RecursionError.
        raise TeamError(f"{file}: is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise TeamError(f"{file}: is empty or no mapping; start with `description:`")
    return raw


def _prompt(folder: Path, field: str, name: str) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise TeamError(
            f"{folder / 'team.yaml'}: {field}: no file {name!r} below {folder}; "
            "create it or correct the name"
        )
    return _read(path)


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise TeamError(f"{file}: is over {MAX_BYTES // 1024} KiB; shorten it")
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise TeamError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TeamError(f"{file}: is not UTF-8; save it as UTF-8") from None


def _faults(error: ValidationError) -> list[str]:
    """Say each fault as field and remedy; pydantic's words for unknown fields are too terse."""
    said = {"extra_forbidden": "is no known field; remove it or correct its spelling"}
    faults = []
    for e in error.errors(include_url=False, include_input=False):
        field = ".".join(str(part) for part in e["loc"]) or "team"
        faults.append(f"{field}: {said.get(e['type'], e['msg'].removeprefix('Value error, '))}")
    return faults
