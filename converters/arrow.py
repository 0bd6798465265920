"""Arrow, loaded with the allocator that suits row groups which come and go.

The default one keeps the pages of every row group for the next (20 MB of a long conversion), or costs a tenth of the
time to return them. It is chosen when Arrow is loaded: afterwards, both would be there.
"""

from __future__ import annotations

import os
import sys
from typing import Final

_ALLOCATOR: Final = "ARROW_DEFAULT_MEMORY_POOL"
_chosen = _ALLOCATOR in os.environ or sys.platform != "linux"
if not _chosen:
    os.environ[_ALLOCATOR] = "jemalloc"
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
finally:
    # Not for the processes started from here: their own choice is theirs.
    if not _chosen:
        del os.environ[_ALLOCATOR]

__all__ = ["pa", "pq"]
