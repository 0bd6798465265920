"""Values of replies that may be anything."""

from __future__ import annotations

import pytest

from providers.remote.errors import Unreadable
from providers.remote.values import count


def test_a_count_is_one_that_a_database_holds() -> None:
    assert count(2**53, "total") == 2**53
    for wrong in (2**53 + 1, 10**30, -1, 1.0, True, None, "3"):
        with pytest.raises(Unreadable, match="total is"):
            count(wrong, "total")
