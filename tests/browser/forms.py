"""The forms in which a page is used: scripts, keyboard, theme, language and width, as six rows for each page.

The seed of the suite draws the first row of each page at random. The second row differs from it in every
factor, so a page in these two is shown with both values of each factor. All six together contain each pair of
values of two factors. Each seed draws others of the 32 combinations, and each page has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from playwright.sync_api import CDPSession, Page

PHONE, WIDE = (360, 740), (1280, 800)
FACTORS = 5
ROWS = 6
FIRST_ROWS = 2  # which differ in every factor
# Row 2 + n differs from row 0 in the factors whose column contains n. No column contains another one.
_COLUMNS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3))


@dataclass(frozen=True)
class Form:
    """A way to use a page."""

    has_scripts: bool
    uses_keyboard: bool  # and no mouse
    is_dark: bool
    is_chinese: bool
    is_phone: bool

    def __str__(self) -> str:
        values = (
            "scripts" if self.has_scripts else "no-scripts",
            "keyboard" if self.uses_keyboard else "mouse",
            "dark" if self.is_dark else "light",
            "chinese" if self.is_chinese else "english",
            "phone" if self.is_phone else "wide",
        )
        return "-".join(values)

    def apply_to(self, page: Page, devices: CDPSession) -> None:
        """Changes how the page loads the next documents; ``devices`` is a session of the page."""
        devices.send("Emulation.setScriptExecutionDisabled", {"value": not self.has_scripts})
        page.set_extra_http_headers({"Accept-Language": "zh-CN" if self.is_chinese else "en-US"})
        width, height = PHONE if self.is_phone else WIDE
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if self.is_dark else "light")


def forms_of(name: str, seed: str) -> list[Form]:
    """The six forms of the page with this name."""
    random = Random(f"{seed}:{name}")
    first = [random.random() < 0.5 for _ in range(FACTORS)]
    columns = random.sample(_COLUMNS, FACTORS)
    rows = [first, [not value for value in first]]
    for row in range(ROWS - FIRST_ROWS):
        rows.append([value != (row in columns[place]) for place, value in enumerate(first)])
    return [Form(*row) for row in rows]
