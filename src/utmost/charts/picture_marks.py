"""A mark in the pictures of utmost, by which an earlier one is told from anybody else's."""

from __future__ import annotations

import struct
import zlib

SVG_MARK = b'<svg data-generator="utmost"'
HTML_MARK = b'<meta name="generator" content="utmost">'
PNG_TEXT = b"tEXtSoftware\0utmost"  # a chunk of PNG: its type, a keyword and a text
PNG_MARK = struct.pack(">I", len(PNG_TEXT) - 4) + PNG_TEXT + struct.pack(">I", zlib.crc32(PNG_TEXT))
PNG_HEADER_BYTES = 33  # the signature, and the first chunk


def mark_picture(content: bytes, suffix: str) -> bytes:
    """The picture with its mark; it looks the same.

    >>> mark_picture(b"<svg></svg>", ".svg")
    b'<svg data-generator="utmost"></svg>'
    """
    if suffix == ".png":
        return content[:PNG_HEADER_BYTES] + PNG_MARK + content[PNG_HEADER_BYTES:]
    place, mark = (b"<svg", SVG_MARK) if suffix == ".svg" else (b"<head>", b"<head>" + HTML_MARK)
    return content.replace(place, mark, 1)


def is_marked(start: bytes, suffix: str) -> bool:
    """Has a picture the mark, told by how it begins."""
    if suffix == ".png":
        return start[PNG_HEADER_BYTES:].startswith(PNG_MARK)
    return start.startswith(SVG_MARK) if suffix == ".svg" else HTML_MARK in start
