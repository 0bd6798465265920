"""Every adapter passes the kit, and the kit notices what is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from fakes.everyone import Service, at_once, everyone

from providers.testing.checks import checks


@everyone
def test_every_adapter_passes(one: Service, tmp_path: Path) -> None:
    failures = []
    with at_once(200), one.served(tmp_path) as server:
        subject = one.subject(server)
        for check in checks(subject):
            try:
                check(subject)
            except AssertionError as error:
                failures.append(f"{check.__name__}: {error}")
        assert failures == []


def test_the_kit_needs_no_pytest() -> None:
    code = "import sys; import providers.testing.checks; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
