"""EPUB books, by their own table of what is read in which order. Without a library: the usual one is under the AGPL."""

from __future__ import annotations

import posixpath
import re
import zipfile
from urllib.parse import unquote

from lxml import etree

from vaultrag.sources.archives import member, opened
from vaultrag.sources.html import parsed, text_of
from vaultrag.sources.source_text import MAX_CHARS, Section, SourceText, Unreadable, one_line

_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_DC = "{http://purl.org/dc/elements/1.1/}"
_PROPERTIES = {"creator": "author", "date": "published", "publisher": "publisher", "language": "language"}
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")


def read_epub(data: bytes) -> SourceText:
    """Read a book: each chapter is a section under its first heading."""
    archive = opened(data)
    if "META-INF/encryption.xml" in archive.namelist() and "META-INF/rights.xml" in archive.namelist():
        raise Unreadable("protected by its shop (DRM)")
    package_path = _package(archive)
    package = _xml(archive, package_path)
    folder = posixpath.dirname(package_path)
    places = {item.get("id"): item.get("href", "") for item in package.iterfind(".//{*}manifest/{*}item")}
    sections: list[Section] = []
    size = 0
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        path = posixpath.normpath(posixpath.join(folder, unquote(places.get(reference.get("idref"), ""))))
        try:
            root = parsed(member(archive, path))
        except KeyError:
            continue
        text = text_of(root) if root is not None else ""
        if text:
            heading = _HEADING.search(text)
            sections.append(
                Section(
                    f"Chapter {len(sections) + 1}: {heading[1]}" if heading else f"Chapter {len(sections) + 1}", text
                )
            )
        size += len(text)
        if size > MAX_CHARS:
            break
    said = {}
    for name, called in _PROPERTIES.items():
        if value := one_line(package.findtext(f".//{_DC}{name}") or ""):
            said[called] = value
    if "published" in said and (day := _DAY.match(said["published"])):
        said["published"] = day[0]
    return SourceText(sections, one_line(package.findtext(f".//{_DC}title") or ""), said)


def _package(archive: zipfile.ZipFile) -> str:
    try:
        root = _xml(archive, "META-INF/container.xml")
    except KeyError as error:
        raise Unreadable("damaged: it is no book") from error
    place = root.find(".//{*}rootfile")
    path = place.get("full-path", "") if place is not None else ""
    if path not in archive.namelist():
        raise Unreadable("damaged: its table of contents is missing")
    return str(path)


def _xml(archive: zipfile.ZipFile, name: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(member(archive, name), parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable("damaged: it is no book") from error
    if root is None:
        raise Unreadable("damaged: it is no book")
    return root
