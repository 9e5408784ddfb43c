"""Stencils on another machine: the same requests, answered by `isobar serve` there."""

from __future__ import annotations

import http.client
import io
import json
import os
import urllib.parse
from typing import Any

import numpy as np

from . import _memo
from ._arrays import array_of
from .errors import BackendUnavailable, CallError, CallTypeError, CancelledError, IsobarError, RunnerError, TrapError
from .stencil import Stencil, stencil, stencil_error

_SECONDS = 120.0


class Runner:
    """A runner at an address like `http://127.0.0.1:8787`, as `isobar serve` prints it.

    `token` is the one that it printed; else that behind `#token=` of the address, or of `ISOBAR_TOKEN`. The connection
    is not encrypted: reach another machine through `ssh -L`.
    """

    def __init__(self, url: str, token: str | None = None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise CallError(f"a runner has an address like http://127.0.0.1:8787, and not {url!r}")
        in_fragment = urllib.parse.parse_qs(parts.fragment).get("token", [None])[0]
        found = token or in_fragment or os.environ.get("ISOBAR_TOKEN")
        if not found or not found.isascii() or not found.isprintable():
            raise CallError("a runner is asked with a token: the one that `isobar serve` printed, or ISOBAR_TOKEN")
        self._host, self._port, self._token = parts.hostname, parts.port or 80, found

    def capabilities(self) -> dict[str, Any]:
        """What the runner is and can do: back ends, limits, machine."""
        found: dict[str, Any] = json.loads(self._ask("GET", "/v1/capabilities"))
        return found

    def compile(self, it: Any, stages: list[str] | None = None, **options: Any) -> dict[str, Any]:
        """Diagnostics, signature, remarks and the texts of stages of a stencil, a function or a request document."""
        request = {**_request(it, options), "stages": stages or []}
        found: dict[str, Any] = json.loads(self._post("/v1/compile", request))
        return found

    def run(self, it: Any, *args: Any, backend: str = "rayon", domain: Any = None, origin: Any = None, **kwargs: Any) -> dict[str, float]:
        """Calls a stencil there, with arrays of here: they are sent, and those that it writes are updated in place.

        Answers how long its steps took, by name, in milliseconds. Raises what a call here raises, and `RunnerError`
        where the runner refuses.
        """
        made = it if isinstance(it, Stencil) else stencil("debug", it)
        names = made._captured.parameters
        if len(args) > made._captured.n_positional:
            raise CallTypeError(f"`{made.__name__}` takes {made._captured.n_positional} arguments by position")
        given = {**dict(zip(names, args)), **kwargs}
        fields: dict[str, np.ndarray] = {}
        scalars: dict[str, Any] = {}
        for name, value in given.items():
            if name not in names:
                raise CallTypeError(f"`{made.__name__}` has no parameter `{name}`")
            if value is None:
                continue
            if name in made.field_info:
                fields[name] = array_of(name, value)[0]
            else:
                scalars[name] = value.item() if isinstance(value, np.generic) else value
        request = {**made._captured.request, "backend": backend, "scalars": scalars}
        if domain is not None:
            request["domain"] = [int(n) for n in domain]
        if isinstance(origin, dict):
            request["origin"] = {name: [int(at) for at in its] for name, its in origin.items()}
        elif origin is not None:
            request["origin"] = {"_all_": [int(at) for at in origin]}
        if fields:
            archive = io.BytesIO()
            np.savez(archive, allow_pickle=False, **fields)
            ticket = json.loads(self._ask("POST", "/v1/uploads", archive.getvalue(), "application/octet-stream"))
            request["fields"] = ticket["upload"]
        job = json.loads(self._post("/v1/jobs", request))["job"]
        times, written = self._follow(job, made)
        for name in written:
            if name in fields:
                fields[name][...] = self._field(job, name)
        return times

    def _follow(self, job: str, made: Stencil) -> tuple[dict[str, float], list[str]]:
        """Waits for the end of a job."""
        times: dict[str, float] = {}
        written, found, trap = [], [], None
        connection = self._connection()
        try:
            connection.request("GET", f"/v1/jobs/{job}/events", headers=self._headers())
            answer = connection.getresponse()
            if answer.status != 200:
                raise _refused(answer.status, answer.read())
            for line in answer:
                if not line.startswith(b"data:"):
                    continue
                event = json.loads(line[5:])
                kind = event.get("type")
                if kind == "timing":
                    times[event["name"]] = float(event["ms"])
                elif kind == "field":
                    written.append(event["field"]["name"])
                elif kind == "diagnostic":
                    found.append(event["diagnostic"])
                elif kind == "trap":
                    trap = event
                elif kind == "ended":
                    _ended(event, found, trap, made)
                    return times, written
        except KeyboardInterrupt:
            self.cancel(job)
            raise
        except OSError as error:
            raise RunnerError(f"the runner no longer answers: {error}") from None
        finally:
            connection.close()
        raise RunnerError("the runner ended the stream of a job before the job")

    def _field(self, job: str, name: str) -> np.ndarray:
        connection = self._connection()
        try:
            connection.request("GET", f"/v1/jobs/{job}/fields/{urllib.parse.quote(name)}", headers=self._headers())
            answer = connection.getresponse()
            bytes_of = answer.read()
            if answer.status != 200:
                raise _refused(answer.status, bytes_of)
            shape = [int(n) for n in (answer.headers["isobar-shape"] or "").split(",") if n]
            return np.frombuffer(bytes_of, np.dtype(answer.headers["isobar-dtype"]).newbyteorder("<")).reshape(shape)
        except OSError as error:
            raise RunnerError(f"the runner no longer answers: {error}") from None
        finally:
            connection.close()

    def cancel(self, job: str) -> None:
        """Ends a job."""
        self._ask("DELETE", f"/v1/jobs/{urllib.parse.quote(job)}")

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    def _post(self, path: str, document: dict[str, Any]) -> bytes:
        return self._ask("POST", path, json.dumps(document).encode(), "application/json")

    def _ask(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        connection = self._connection()
        try:
            headers = self._headers() | ({"Content-Type": kind} if body is not None else {})
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            found = answer.read()
        except OSError as error:
            raise RunnerError(f"no runner answers at {self._host}:{self._port}: {error}") from None
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise _refused(answer.status, found)
        return found


def _request(it: Any, options: dict[str, Any]) -> dict[str, Any]:
    if isinstance(it, dict):
        return {**it, **options}
    if isinstance(it, Stencil):
        return {**it._captured.request, **options}
    externals, dtypes = options.pop("externals", None), options.pop("dtypes", None)
    return {**_memo.captured(it, externals, dtypes, options.pop("source", None), (64, 64)).request, **options}


def _refused(status: int, body: bytes) -> IsobarError:
    try:
        problem = json.loads(body)
        text = f"{problem['title']} ({problem['code']}): {problem['detail']}"
    except (ValueError, KeyError, TypeError):
        text = f"status {status}"
    return RunnerError(f"the runner refuses: {text}")


def _ended(event: dict[str, Any], found: list[dict[str, Any]], trap: dict[str, Any] | None, made: Stencil) -> None:
    reason, problem = event["reason"], event.get("problem") or {}
    if reason == "ok":
        return
    detail = problem.get("detail") or reason
    errors = [it for it in found if it.get("severity") == "error"]
    if reason == "trap":
        i, j, k = (trap or {}).get("cell") or (0, 0, 0)
        raise TrapError(str((trap or {}).get("message") or detail), (i, j, k))
    if reason == "cancelled":
        raise CancelledError(detail)
    if errors and any(it["start"]["line"] for it in errors):
        raise stencil_error(errors, made._captured)
    if errors:
        raise CallError("\n".join(f"{it['message']} [{it['code']}]" for it in errors))
    if "BACKEND" in str(problem.get("code", "")).upper():
        raise BackendUnavailable(detail)
    raise RunnerError(f"the job ended: {reason}: {detail}")
