"""Looks up elements of a page by their ``data-*`` attributes, so that no test depends on a sentence.

The templates follow one convention: ``data-part`` names a section, ``data-state`` its state, ``data-code`` a
problem, ``data-action`` a button or link, ``data-value`` the machine-readable value of a displayed figure,
and ``data-kind`` the level of a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    """An element of a page with its attributes, its children and all text inside it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        """The value of ``data-<name>``, or of the attribute ``name`` itself."""
        data = f"data-{name}"
        return self.attributes[data] if data in self.attributes else self.attributes[name]

    def __contains__(self, text: str) -> bool:
        return text in self.text

    @property
    def text(self) -> str:
        """All text inside, each stretch of white space as one space."""
        return " ".join("".join(self.pieces).split())

    def walk(self) -> Iterator[Element]:
        for child in self.children:
            yield child
            yield from child.walk()

    def parts(self, name: str | None = None, **data: object) -> list[Element]:
        """The elements inside this one with this ``data-part`` and every given ``data-<key>``."""
        wanted = {f"data-{key.replace('_', '-')}": str(value) for key, value in data.items()}
        if name is not None:
            wanted["data-part"] = name
        return [found for found in self.walk() if wanted.items() <= found.attributes.items()]

    def part(self, name: str | None = None, **data: object) -> Element:
        """The only such element; any other number of them fails the test."""
        found = self.parts(name, **data)
        assert len(found) == 1, (name, data, len(found))
        return found[0]

    def select(self, tag: str, **attributes: str) -> list[Element]:
        """The elements inside with this tag and these attributes; ``class_`` names some of their classes."""
        classes = set(attributes.pop("class_", "").split())
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [
            found
            for found in self.tags(tag)
            if wanted.items() <= found.attributes.items()
            and classes <= set(found.attributes.get("class", "").split())
        ]

    def values(self, key: str) -> list[str]:
        """The values of ``data-<key>`` in the order of the page."""
        name = f"data-{key}"
        return [found.attributes[name] for found in self.walk() if name in found.attributes]

    def tags(self, *names: str) -> list[Element]:
        return [found for found in self.walk() if found.tag in names]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Element("", {})
        self.open = [self.page]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(found)
        if tag not in VOID:
            self.open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].tag == tag:
                del self.open[depth:]
                return

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.pieces.append(data)


def parsed(page: Any) -> Element:
    """The page as a tree; ``page`` is its text, a response, or an element that was looked up before."""
    if isinstance(page, Element):
        return page
    return _parsed_text(page if isinstance(page, str) else page.content.decode())


@lru_cache(maxsize=4)  # a test looks at the same page several times
def _parsed_text(text: str) -> Element:
    parser = _Parser()
    parser.feed(text)
    parser.close()
    return parser.page


def parts(page: Any, name: str | None = None, **data: object) -> list[Element]:
    return parsed(page).parts(name, **data)


def part(page: Any, name: str | None = None, **data: object) -> Element:
    return parsed(page).part(name, **data)


def select(page: Any, tag: str, **attributes: str) -> list[Element]:
    """The elements with this tag and these attributes; ``class_`` names some of their classes."""
    return parsed(page).select(tag, **attributes)


def actions(page: Any) -> list[str]:
    """The ``data-action`` of every button and link of the page."""
    return parsed(page).values("action")


def codes(page: Any) -> list[str]:
    """The ``data-code`` of every problem of the page."""
    return parsed(page).values("code")


def is_chinese(text: str) -> bool:
    """Whether the text has Chinese characters."""
    return any("\u4e00" <= character <= "\u9fff" for character in text)


def messages(page: Any) -> list[str]:
    """The kinds of the messages at the head of the page: "success", "error", "warning" or "info"."""
    return [found["kind"] for found in parts(page, "message")]


def field_names(page: Any) -> dict[str, str]:
    """The name of each field of a form by its label or legend, up to the first space.

    The field of the flag alone is ``<name>-flag`` after the option's name.
    """
    found: dict[str, str] = {}
    for label in select(page, "label"):
        if label.text and "for" in label.attributes:
            found.setdefault(label.text.split()[0], label.attributes["for"].removeprefix("id_"))
    for fieldset in select(page, "fieldset"):
        if "id" in fieldset.attributes:
            found.setdefault(fieldset.text.split()[0], fieldset.attributes["id"].removeprefix("id_"))
    for label in select(page, "label"):
        for box in label.select("input", type="checkbox"):
            found.setdefault(label.text.split()[0], box.attributes["name"])
    return found


def controls(page: Any) -> list[tuple[str, str]]:
    """Name and value of each control that a browser sends with the page's form, without its buttons."""
    sent: list[tuple[str, str]] = []
    for found in parsed(page).tags("input", "select", "textarea"):
        name, kind = found.attributes.get("name"), found.attributes.get("type", "text")
        if name is None or kind == "file":
            continue
        if found.tag == "textarea":
            text = "".join(found.pieces).removeprefix("\n")
            sent.append((name, text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")))
        elif found.tag == "select":
            chosen = found.select("option", selected="") or found.tags("option")[:1]
            sent.extend((name, option.attributes["value"]) for option in chosen)
        elif kind not in ("checkbox", "radio"):
            sent.append((name, found.attributes.get("value", "").replace("\r", "").replace("\n", "")))
        elif "checked" in found.attributes:
            sent.append((name, found.attributes.get("value", "on")))
    return sent
