"""Files that appear whole, together, or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from converters.errors import BadInput
from converters.folder import writing


def refuse_present(places: Sequence[Path], *, force: bool) -> None:
    """Refuse to write where something is.

    Raises:
        BadInput: a place is a folder or a device, or a file that ``force`` does not allow to be replaced.
    """
    for place in places:
        if place.is_dir():
            raise BadInput(place, "is a folder", "give the name of a file")
        if not (place.exists() or place.is_symlink()):
            continue
        if not force:
            raise BadInput(place, "exists already", "choose another name, or replace it with --force")
        if place.exists() and not place.is_file():
            raise BadInput(place, "is not a file", "choose another name")


@contextmanager
def whole_files(*places: Path, force: bool) -> Iterator[Sequence[Path]]:
    """Yield a temporary path for each place; they take their names when the block ends, the last place first.

    The first place is the one that a reader looks for: once it has its name, the others have theirs. All places are in
    one folder, which is made where it is missing.

    Raises:
        BadInput: see ``refuse_present``; the folder cannot be written to.
    """
    refuse_present(places, force=force)
    main = places[0]
    with writing(main):
        main.parent.mkdir(parents=True, exist_ok=True)
        temporary = main.with_name(f".{main.name}.{secrets.token_hex(4)}.tmp")
        temporary.mkdir()
        try:
            yield [temporary / place.name for place in places]
            for place in places:
                place.unlink(missing_ok=True)
            for place in reversed(places):
                (temporary / place.name).rename(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
