"""What Supermemory's answers that are not 2xx mean, beyond the usual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from providers.remote.errors import Absent, Refused, UnknownOutcome
from providers.supermemory.dialect import mappings


def judge(status: int, headers: Mapping[str, str], body: Any) -> Exception | None:
    """See ``providers.remote.http.Judge``.

    Validation says ``{"success": false, "error": [{"path": [...], "message": ...}], "data": ...}``, where ``data`` is
    what was sent. A conflict (409), which the client library repeats, means that the document is there in some state.
    """
    told = body if isinstance(body, Mapping) else {}
    issues = mappings(told.get("error"))
    said = "; ".join(map(_issue, issues)) if issues else str(told.get("error") or "no reason given")
    message = f"supermemory: status {status}: {said}"
    if status == 404 and told:
        return Absent(message)
    if status == 409:
        return UnknownOutcome(message)
    if status == 400 and issues:
        return Refused(message)
    return None


def _issue(issue: Mapping[str, Any]) -> str:
    path = issue.get("path")
    where = ".".join(map(str, path)) if isinstance(path, list) else ""
    return f"{where}: {issue.get('message')}" if where else str(issue.get("message"))
