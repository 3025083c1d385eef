"""Somebody who uses pages in one form. Every page that a visitor sees is examined.

A visitor without a mouse reaches each control by Tab, sees the focus on it, and presses Enter or Space.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import CDPSession, Locator, Page, Response

from tests.browser.forms import Form

if TYPE_CHECKING:
    from registry.models import User
    from tests.browser.main_paths.site import DemoSite

_FIND_VIOLATIONS = "axe.run({resultTypes: ['violations']}).then(found => found.violations)"
# Where scripts are off, timers never end.
_RUN_TIMERS = """
window.setTimeout = (task, _ms, ...values) => { Promise.resolve().then(() => task(...values)); return 1; };
window.clearTimeout = () => {};
"""
_LEFT = "/static/mark.svg"  # of the same site: for about:blank, the browser would end the page's process
_MAX_EXTRA_TABS = 25  # stops that ``_STOPS`` does not know: boxes that scroll, and popovers
# The number of times that Tab moves the focus forward to the element; negative for Shift+Tab.
_STOPS = """
target => {
  const stops = [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]")].filter(each => {
    if (each.tabIndex < 0 || each.disabled || !each.checkVisibility({visibilityProperty: true})) return false;
    if (each.type !== "radio") return true;
    const group = [...document.querySelectorAll("input[type=radio]")].filter(
      other => other.name === each.name && other.form === each.form && !other.disabled);
    const chosen = group.find(other => other.checked);
    return chosen ? chosen === each : group[0] === each;
  });
  const anchor = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const active = document.activeElement ?? document.body;
  const focus = active === document.body && anchor || active;
  const after = each => focus === document.body
    || focus.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const before = each => focus.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_PRECEDING;
  if (focus === target) return 0;
  if (after(target)) return stops.filter(each => after(each) && !(each.compareDocumentPosition(target)
    & Node.DOCUMENT_POSITION_PRECEDING)).length;
  return -stops.filter(each => before(each) && !(each.compareDocumentPosition(target)
    & Node.DOCUMENT_POSITION_FOLLOWING)).length;
}
"""
_SCROLL_PAUSES = 6  # until the page has scrolled to the focus
_IS_FOCUSED = "target => document.activeElement === target"
# Why the reader can't see the focus on the element; empty if it is visible.
_FOCUS_FAULT = """
target => {
  const shown = target.labels?.[0] && target.getBoundingClientRect().width < 3 ? target.labels[0] : target;
  if (!target.matches(":focus-visible")) return "has no visible focus";
  const style = getComputedStyle(shown);
  if (style.outlineStyle === "none" && style.boxShadow === "none") return "has no outline";
  const box = shown.getBoundingClientRect();
  const points = [[.5, .5], [.1, .2], [.9, .2], [.1, .8], [.9, .8]].map(
    ([x, y]) => document.elementFromPoint(box.x + box.width * x, box.y + box.height * y));
  const isOwn = each => each && (shown.contains(each) || each.contains(shown)
    || [...(target.labels ?? [])].some(label => label.contains(each)));
  return points.some(isOwn) ? "" : "is covered: " + points[0]?.outerHTML.slice(0, 200);
}
"""
_EXCESS = "document.documentElement.scrollWidth - innerWidth"
_TAB_OUTSIDE = """
[...document.querySelectorAll(".tabs [aria-current]")].map(tab => tab.getBoundingClientRect())
    .some(box => box.x < 0 || box.right > innerWidth)
"""


class Visitor:
    """Uses the pages of ``site``. ``folder`` is for the files that the visitor uploads."""

    def __init__(self, page: Page, form: Form, site: DemoSite, folder: Path) -> None:
        self.page, self.form, self.site, self.folder = page, form, site, folder
        self.faults: list[str] = []
        self.seen: list[str] = []  # the paths of the documents
        self.checks_access = False  # whether axe examines pages
        self._devices: CDPSession | None = None
        self._handlers: dict[str, Callable[[Any], None]] = {
            "pageerror": lambda error: self._note(f"script error: {error}"),
            "console": lambda line: self._note(line.text) if line.type == "error" else None,
            "request": lambda request: self._check_host(request.url),
            "response": self._check_policy,
        }
        for event, handler in self._handlers.items():
            page.on(event, handler)  # type: ignore[call-overload]

    def leave(self) -> None:
        """Ends the visit, so that the page can be used for another one."""
        for event, handler in self._handlers.items():
            self.page.remove_listener(event, handler)
        if self._devices:
            self._devices.send("WebAuthn.disable")
        self.page.goto(_LEFT)

    # -- what a visitor does

    def open(self, path: str) -> None:
        response = self.page.goto(path)
        assert response is not None
        assert response.status == 200, path
        self.examine()

    def press(self, selector: str) -> None:
        """Presses a button or link."""
        if self.form.uses_keyboard:
            self._focus(self._visible(selector))
            self.page.keyboard.press("Enter")
        else:
            self._visible(selector).click()

    def fill(self, selector: str, text: str) -> None:
        field = self._visible(selector)
        if not self.form.uses_keyboard:
            field.fill(text)
            return
        self._focus(field)
        self.page.keyboard.press("Control+a")
        if len(text) > 30:
            self.page.keyboard.insert_text(text)  # as from the clipboard
        else:
            self.page.keyboard.type(text)
        assert field.input_value() == text

    def choose(self, selector: str, value: str) -> None:
        """Chooses the option with this value of a select."""
        field = self._visible(selector)
        if not self.form.uses_keyboard:
            field.select_option(value)
            return
        self._focus(field)
        wanted = "(field, value) => [...field.options].findIndex(each => each.value === value)"
        distance = field.evaluate(f"(field, value) => ({wanted})(field, value) - field.selectedIndex", value)
        for _ in range(abs(distance)):
            self.page.keyboard.press("ArrowDown" if distance > 0 else "ArrowUp")
        assert field.input_value() == value

    def tick(self, selector: str) -> None:
        """Ticks a box, or chooses a radio button."""
        box = self.page.locator(selector).first
        if not self.form.uses_keyboard:
            if box.evaluate("box => box.offsetWidth > 2"):
                box.check()
            else:  # Only the label is visible.
                self.page.locator(f"label[for='{box.get_attribute('id')}']").first.click()
        elif box.get_attribute("type") == "radio":
            self._choose_radio(box)
        elif not box.is_checked():
            self._focus(box)
            self.page.keyboard.press("Space")
        assert box.is_checked()

    def attach(self, selector: str, name: str, data: bytes) -> None:
        """Chooses a file in the browser's file dialog."""
        file = self.folder / name
        file.write_bytes(data)
        with self.page.expect_file_chooser() as chooser:
            if self.form.uses_keyboard:
                self.press(selector)
            else:
                self.page.locator(selector).first.click()
        chooser.value.set_files(file)

    def download(self, selector: str) -> bytes:
        with self.page.expect_download() as download:
            self.press(selector)
        self.seen.append(urlsplit(download.value.url).path)
        return Path(download.value.path()).read_bytes()

    def see(self, selector: str, *, examine: bool = True) -> Locator:
        """Waits until the element is shown, and examines the page."""
        found = self._visible(selector)
        if examine:
            self.examine()
        return found

    def arrive(self, pattern: str, *, examine: bool = True) -> None:
        """Waits for the address, and examines the page, unless it soon loads again."""
        self.page.wait_for_url(pattern)
        if examine:
            self.examine()

    def confirm(self, dialog: str) -> None:
        """Opens the confirmation with this id and presses its button."""
        self.press(f"[popovertarget='{dialog}']:not([popovertargetaction])")
        self.press(f"#{dialog} [data-action=confirm]")

    def sign_in_as(self, user: User) -> None:
        """Gives the browser a new session of the user."""
        cookies = self.site.session(user)
        self.page.context.clear_cookies()
        for name, value in cookies.items():
            self.page.context.add_cookies([{"name": name, "value": value, "url": self.site.url}])

    def add_authenticator(self) -> None:
        """Gives the browser a fingerprint sensor that always recognizes its owner."""
        session = self._devices = self.page.context.new_cdp_session(self.page)
        session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        session.send("WebAuthn.addVirtualAuthenticator", {"options": options})

    def unfold_filters(self) -> None:
        """Opens the filters, which small screens fold."""
        if self.form.is_phone:
            self.press("[data-part=filter-fold] summary")

    def expect_message(self) -> None:
        self.see("[data-part=message][data-kind=success]")

    def count(self, selector: str) -> int:
        return self.page.locator(selector).count()

    # -- what a visitor notices

    def examine(self) -> None:
        path = urlsplit(self.page.url).path
        if (excess := self.page.evaluate(_EXCESS)) > 0:
            self._note(f"{excess} px wider than the screen")
        if path not in self.seen and self.page.evaluate(_TAB_OUTSIDE):  # later, tabs follow the focus
            self._note("the current tab is outside the screen")
        if path not in self.seen and self.checks_access:
            self._check_access()
        self.seen.append(path)

    def _check_access(self) -> None:
        """Lets axe examine the page."""
        if not self.form.has_scripts:
            self.page.evaluate(_RUN_TIMERS)
        self.page.evaluate(AXE_SCRIPT)
        violations = self.page.evaluate(_FIND_VIOLATIONS)
        for violation in violations:
            if violation["id"] == "meta-refresh" and not self.form.has_scripts:
                continue  # Without scripts, pages follow a run only by loading again.
            nodes = [node["html"][:200] for node in violation["nodes"][:5]]
            self._note(f"axe {violation['id']}: {violation['help']}: {nodes}")

    def _note(self, fault: str) -> None:
        path = urlsplit(self.page.url).path
        if path != _LEFT:  # where the browser looks for an icon after the last visit
            self.faults.append(f"{path}: {fault}")

    def _check_host(self, url: str) -> None:
        if not url.startswith((self.site.url, "data:", "blob:")):
            self._note(f"request to {url}")

    def _check_policy(self, response: Response) -> None:
        if response.request.resource_type != "document" or "text/html" not in response.headers.get(
            "content-type", ""
        ):
            return
        policy = response.headers.get("content-security-policy", "")
        if "default-src" not in policy or "unsafe-inline" in policy:
            self._note(f"Content-Security-Policy: {policy}")

    def _visible(self, selector: str) -> Locator:
        found = self.page.locator(selector).locator("visible=true").first
        found.wait_for()
        return found

    def _focus(self, element: Locator) -> None:
        """Presses Tab until the element has the focus."""
        handle: Any = element.element_handle()
        keyboard = self.page.keyboard
        distance = handle.evaluate(_STOPS)
        self._hold_tab(distance)
        for _ in range(_MAX_EXTRA_TABS):
            if handle.evaluate(_IS_FOCUSED):
                break
            keyboard.press("Tab" if distance > 0 else "Shift+Tab")
        else:
            raise AssertionError(f"Tab does not reach {element}: {distance}")
        fault = handle.evaluate(_FOCUS_FAULT)
        for _ in range(_SCROLL_PAUSES if fault else 0):
            self.page.wait_for_timeout(50)
            fault = handle.evaluate(_FOCUS_FAULT)
        if fault:
            self._note(f"{element} {fault}")

    def _hold_tab(self, distance: int) -> None:
        """Moves the focus forward, or back if ``distance`` is negative, as with a key that repeats."""
        keyboard = self.page.keyboard
        if distance < 0:
            keyboard.down("Shift")
        for _ in range(abs(distance)):
            keyboard.down("Tab")
        keyboard.up("Tab")
        if distance < 0:
            keyboard.up("Shift")

    def _choose_radio(self, radio: Locator) -> None:
        if radio.is_checked():
            return
        group = f"input[type=radio][name='{radio.get_attribute('name')}']"
        stop = self.page.locator(f"{group}:checked")
        self._focus(stop.first if stop.count() else self.page.locator(group).first)
        for _ in range(self.page.locator(group).count()):
            self.page.keyboard.press("ArrowDown")
            if radio.is_checked():
                return
        if not radio.is_checked():
            self.page.keyboard.press("Space")
