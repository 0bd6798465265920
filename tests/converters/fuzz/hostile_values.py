"""Values that no source should hold, yet some do."""

from __future__ import annotations

from typing import Any, Final

DEEP: Final = 10_000
LONG: Final = "i" * 5_000

SWAPS: Final[tuple[Any, ...]] = (
    *("", " ", "text", "1", "null", 0, 1, -1, 1.5, 10**18, 2**63, True, False, None),
    *([], {}, [[]], [{}], {"": None}, {"a": 1}, [None], ["x", 1, None]),
)
IDS: Final = (
    *("../../x", "a/b", ".", "..", "CON", "/etc/passwd", "line\nbreak", "nul\0inside", "", " ", "\t", LONG),
    *("\u202eid", "\u2028", "\ufeff", "\U0001f600", "e\u0301", "%2e%2e", "a\x1b[31mb", "\x85", "\x7f", "{0}", "%s"),
)
DATES: Final = (
    *("0000/01/01 (Sat) 00:00", "0001/01/01 (Mon) 00:00", "9999/12/31 (Fri) 23:59", "2023/02/30 (Thu) 10:00"),
    *("2023/05/20 (Sat) 24:00", "2023/05/20 (Sat) 23:60", "2023/00/20 (Sat) 10:00", "2023/05/20 (Sat) 10:00\n"),
    *("\u0662\u0660\u0662\u0663/05/20 (Sat) 10:00", "2023/05/20 (XYZ) 10:00", "2023/05/20", "yesterday", ""),
    *("0000-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999999Z"),
    *("2023-02-30T10:00:00Z", "2023-05-20T24:00:00Z", "2023-05-20T10:00:60Z", "2023-W20-6", "20230520", "-1-01-01"),
    *("2023-05-20T10:00:00+24:00", "2023-05-20T10:00:00-23:59:59.999999", "1e400", "1684576800", "10000-01-01"),
    *("12:99 pm on 8 May, 2023", "13:00 pm on 8 May, 2023", "1:56 pm on 31 February, 2023", "1:56 pm on 8 May, 0000"),
    *("1:56 pm on 8 May, 9999", "0:56 am on 8 May, 2023", "1:56 PM on 8 MAY 2023", "1:56 pm on 8 Mai, 2023"),
)

NUMBERS: Final = (
    *("1e400", "-1e400", "1" + "0" * 5_000, "-" + "9" * 5_000, "-0", "-0.0", "NaN", "Infinity", "-Infinity"),
    *("1e-400", "1.0", "1E5", "18446744073709551616", "9223372036854775808", "00", "+1", ".5", "1.", "0x10", "1_0"),
    *("0." + "1" * 5_000, "1e" + "9" * 5_000, "4294967296"),
)
"""As they stand in a file."""

STRINGS: Final = (
    *(rb'"\ud800"', rb'"\udc00 x"', rb'"x \ud83d"', rb'"\ude00\ud83d"', rb'"\u0000"', rb'"\u2028\u2029"', rb'"\u202e"'),
    *('"\u2028"'.encode(), '"\u202e\u2066x\u2069"'.encode(), '"\U0001f600"'.encode(), '"\ufeff"'.encode()),
    *(
        b'"\xff"',
        b'"\xc0\x80"',
        b'"\xed\xa0\x80"',
        b'"\xf4\x90\x80\x80"',
        b'"\xe2\x82"',
        b'"\x00"',
        b'"\n"',
        b'"\x1b[2J"',
    ),
    *(rb'"\x41"', rb'"\u12"', b'"', b"'x'", rb'"\"', b'"' + b"x" * 100_000 + b'"', rb'"\ud800\u0041"', rb'"\\ud800"'),
)
"""Tokens as they stand in a file, escapes and invalid bytes included."""

NESTED: Final = (
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP + "1" + "}" * DEEP,
    '[{"a":' * (DEEP // 2) + "1" + "}]" * (DEEP // 2),
    "[" * DEEP,
    '{"a":' * DEEP,
    "[" * 300 + "]" * 300,
)

YAML: Final = (
    *("2023-99-99", "2001-12-14t21:59:43.10-99:00", "0000-01-01", "!!python/object/apply:os.getcwd []", "*unknown"),
    *("&a [*a]", "&a {b: *a}", ".inf", "-.nan", "190:20:30", "0b", "0o99", "!!int x", "!!float x", "!!binary x"),
    *(
        "!!timestamp x",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "{? [a]: b}",
        "{{a: 1}: b}",
        "{<<: x}",
        "{<<: [1]}",
        "|\n",
        "%",
    ),
    *(
        "!x y",
        "!<tag> y",
        "a: b: c",
        "\t",
        "@",
        "`",
        "!!bool x",
        "!!null x",
        "!!pairs [a]",
        "[&a x, *a]",
        "--- a",
        "...",
    ),
)
