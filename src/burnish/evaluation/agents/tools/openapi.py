"""Tools from an OpenAPI document: each operation that is named becomes one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from burnish.domain import UsageError
from burnish.evaluation.agents.tools.http_requests import METHODS, HttpTool
from burnish.evaluation.agents.tools.texts import inlined, pointed_at
from burnish.support.hints import did_you_mean

_WHOLE = "body"


def openapi_tools(
    path: Path,
    operations: Sequence[str] | None,
    *,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float = 60.0,
    version: str | None = None,
) -> list[HttpTool]:
    """The operations by their `operationId`, or by `GET /orders/{id}`; without a list, all."""
    document = _read(path)
    known = {one: found for found in _operations(document) for one in found.names}
    listed = list(_operations(document)) if operations is None else []
    for wanted in operations or ():
        if wanted not in known:
            names = [one.names[0] for one in _operations(document)]
            raise _unusable(
                path,
                f"it has no operation {wanted!r}",
                did_you_mean(wanted, names, f"name some of: {', '.join(names)}"),
            )
        listed.append(known[wanted])
    base = base_url or _server(document, path)
    return [
        one.tool(document, base, headers=headers, timeout_seconds=timeout_seconds, version=version)
        for one in listed
    ]


class _Operation:
    """One method of one path."""

    def __init__(
        self, path: str, method: str, value: Mapping[str, Any], shared: Sequence[Any]
    ) -> None:
        self.path, self.method, self._value = path, method.upper(), value
        self._shared = shared
        own = value.get("operationId")
        plain = f"{self.method} {path}"
        self.names = [str(own), plain] if own else [plain]

    def tool(self, document: Mapping[str, Any], base: str, **settings: Any) -> HttpTool:
        """The request as a tool; parameters and body are its arguments."""
        properties: dict[str, Any] = {}
        required: list[str] = []
        places: dict[str, str] = {}
        for one in (*self._shared, *self._value.get("parameters", ())):
            parameter = inlined(one, document)
            name = str(parameter["name"])
            schema = dict(
                parameter.get("schema") or _content(parameter) or parameter_type(parameter)
            )
            if parameter.get("description"):
                schema["description"] = parameter["description"]
            properties[name], places[name] = _json_schema(schema), parameter["in"]
            if parameter.get("required") or parameter["in"] == "path":
                required.append(name)
        self._add_body(document, properties, required, places)
        parameters: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            **({"required": list(dict.fromkeys(required))} if required else {}),
            "additionalProperties": False,
        }
        said = [str(self._value.get(word) or "").strip() for word in ("summary", "description")]
        return HttpTool(
            name=self.names[0],
            description="\n\n".join(dict.fromkeys(one for one in said if one)),
            parameters=parameters,
            url=base.rstrip("/") + self.path,
            method=self.method,
            places=places,
            **settings,
        )

    def _add_body(
        self,
        document: Mapping[str, Any],
        properties: dict[str, Any],
        required: list[str],
        places: dict[str, str],
    ) -> None:
        if "requestBody" not in self._value:
            return
        body = inlined(self._value["requestBody"], document)
        schema = _json_schema(_content(body) or {})
        fields = schema.get("properties")
        if isinstance(fields, Mapping) and not set(fields) & set(properties):
            properties.update(fields)
            places.update(dict.fromkeys(fields, "body"))
            required.extend(schema.get("required", ()))
            return
        properties[_WHOLE] = {**schema, **_described(body)}
        places[_WHOLE] = "whole body"
        if body.get("required"):
            required.append(_WHOLE)


def _operations(document: Mapping[str, Any]) -> Iterator[_Operation]:
    for path, one in (document.get("paths") or {}).items():
        item = pointed_at(document, one["$ref"]) if "$ref" in one else one
        for method, value in item.items():
            if method.upper() in METHODS and isinstance(value, Mapping):
                yield _Operation(path, method, value, item.get("parameters", ()))


def _content(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of a body or a parameter in JSON."""
    for kind, one in (value.get("content") or {}).items():
        if "json" in kind:
            found: Mapping[str, Any] = one.get("schema") or {}
            return found
    return None


def parameter_type(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """What Swagger 2 wrote beside the name instead of in a schema."""
    return {key: parameter[key] for key in ("type", "enum", "items", "default") if key in parameter}


def _json_schema(value: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON schema has a type more."""
    if isinstance(value, list):
        return [_json_schema(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    made = {key: _json_schema(one) for key, one in value.items() if key != "nullable"}
    if value.get("nullable") and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
        if "enum" in made and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
    return made


def _described(body: Mapping[str, Any]) -> dict[str, str]:
    return {"description": body["description"]} if body.get("description") else {}


def _server(document: Mapping[str, Any], path: Path) -> str:
    servers = document.get("servers") or [{"url": "/"}]
    first = servers[0]
    url = str(first.get("url", "/"))
    for name, one in (first.get("variables") or {}).items():
        url = url.replace(f"{{{name}}}", str(one.get("default", "")))
    if "://" in url:
        return url
    host = document.get("host")  # Swagger 2
    if host:
        scheme = (document.get("schemes") or ["https"])[0]
        return str(urljoin(f"{scheme}://{host}", document.get("basePath") or "/"))
    raise _unusable(path, "it names no server with a whole address", 'add base_url = "http://…"')


def _read(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        document = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except OSError as error:
        raise _unusable(
            path, error.strerror or str(error), "correct the path", "missing_file"
        ) from error
    except ValueError as error:
        raise _unusable(path, f"it cannot be read: {error}", "correct it") from error
    if not isinstance(document, Mapping) or not isinstance(document.get("paths"), Mapping):
        raise _unusable(path, "it has no `paths`", "name an OpenAPI document")
    return document


def _yaml(text: str) -> Any:
    """As JSON has it: a date stays text."""
    try:
        import yaml  # noqa: PLC0415 - an extra, and only YAML needs it
    except ImportError as error:
        raise UsageError(
            what="the OpenAPI document cannot be read",
            why="it is YAML, and PyYAML is not installed",
            fix="pip install 'burnish[yaml]', or save the document as JSON",
            code="missing_extra",
        ) from error
    loader: Any = type("Loader", (yaml.SafeLoader,), {})
    loader.yaml_implicit_resolvers = {
        first: [one for one in rules if one[0] != "tag:yaml.org,2002:timestamp"]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, without dates
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _unusable(path: Path, why: str, fix: str, code: str = "invalid_tool") -> UsageError:
    return UsageError(what=f"the tools of {path.name} cannot be used", why=why, fix=fix, code=code)
