"""Where a service is and how one may talk to it: nothing of it changes a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from providers.remote.http import HttpWire, Judge
    from providers.remote.retry import Manners


@dataclass(frozen=True)
class AccessDefaults:
    """What a store's ``service:`` settings are if they are not given.

    Attributes:
        base_url: address.
        key_env: name of the environment variable that holds the key; None where there is no key.
        key_optional: whether the service may run without a key.
        requests_per_minute: what its usual limit allows; None where no figure is known.
        concurrency: calls at a time.
    """

    base_url: str
    key_env: str | None
    key_optional: bool = False
    requests_per_minute: float | None = None
    concurrency: int = 8


@dataclass(frozen=True)
class Access:
    """An address, a key and manners."""

    base_url: str
    key: str
    manners: Manners

    def http(self, service: str, headers: Mapping[str, str], judge: Judge | None = None, *, path: str = "") -> HttpWire:
        """A wire over HTTP; ``path`` goes between the address and each request's own."""
        from providers.remote.http import HttpWire

        given = dict(headers) if self.key else {}
        secrets = (self.key,) if self.key else ()
        judged = {"judge": judge} if judge else {}
        return HttpWire(service, self.base_url.rstrip("/") + path, given, secrets, self.manners, **judged)

    def __repr__(self) -> str:
        return f"Access({self.base_url!r})"
