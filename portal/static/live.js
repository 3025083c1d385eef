"use strict";
// Live pages: replaces the changed parts of an open page. Without this script, the page stays as it was loaded.
(() => {
  const { events, counts } = document.currentScript.dataset;
  const SELECTOR = "[data-live-on], [data-refresh]", LOOK_MS = 2000, SLOWEST_MS = 60000;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Changes ``old`` into ``next`` but keeps its elements, and so focus, ticks, typed text, open details and scroll positions.
  const keyOf = (node) => node.nodeType === 1 && (node.id
    || (node.dataset.value && `${node.dataset.part} ${node.dataset.value}`)
    || (node.matches("input, button, select, textarea")
      && `${node.name} ${node.type} ${node.getAttribute("value")} ${node.getAttribute("popovertarget")}`));
  const drop = (node) => {
    const after = node.nextSibling;
    node.remove();
    return after;
  };
  const setAttributes = (old, next) => {
    for (const { name } of [...old.attributes]) if (!next.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    for (const { name, value } of next.attributes) {
      if (name === "open" || old.getAttribute(name) === value) continue;
      if (name === "value") old.checked = false;  // it selects other runs now
      old.setAttribute(name, value);
    }
  };
  const morph = (old, next) => {
    if (old.isEqualNode(next)) return;
    if (old.nodeType !== 1) {
      old.nodeValue = next.nodeValue;
      return;
    }
    setAttributes(old, next);
    const keys = new Set([...next.childNodes].map(keyOf).filter(Boolean)), keyed = new Map();
    for (const child of [...old.childNodes]) {
      const key = keyOf(child);
      if (!key) continue;
      if (!keys.has(key)) child.remove();
      else if (!keyed.get(key)?.push(child)) keyed.set(key, [child]);
    }
    let place = old.firstChild;
    for (const child of [...next.childNodes]) {
      const key = keyOf(child);
      const match = key ? keyed.get(key)?.shift() : place && !keyOf(place) && place;
      if (match?.nodeName !== child.nodeName) {
        old.insertBefore(document.importNode(child, true), place);
        continue;
      }
      while (place && place !== match && !keyOf(place)) place = drop(place);  // moving an element would lose its focus
      if (match === place) place = place.nextSibling;
      else old.insertBefore(match, place);
      morph(match, child);
    }
    while (place) place = drop(place);
  };

  // A part also stays during a press or in an open dialog: a decision never covers more than was shown.
  const isBusy = (part) => {
    if (part.querySelector(":active, :popover-open")) return true;
    const field = part.contains(document.activeElement) && document.activeElement;
    return field && field.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");
  };
  const showCount = () => {
    const number = document.querySelector("#count-approvals .count")?.textContent.trim();
    document.title = (number ? `(${number}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  };
  showCount();

  const wanted = new Set();
  let timer = 0, rest = 0;  // no refresh before ``rest``
  let shown = 0;  // when the page's content was requested
  const isDue = (part) => part.dataset.liveOn?.split(" ").some((kind) => wanted.has(kind)) || (part.dataset.refresh && wanted.has("poll"));
  const later = (ms) => { timer ||= setTimeout(refresh, ms); };
  const refresh = async () => {
    const due = all(SELECTOR).filter(isDue), busy = due.filter(isBusy);
    const asked = performance.now(), kinds = [...wanted];
    wanted.clear();
    if (due.length > busy.length && !document.hidden) {
      try {
        const onlyCounts = due.every((part) => "liveCount" in part.dataset);
        const answer = await fetch(onlyCounts ? counts : location.href, { cache: "reload" });
        if (answer.ok && !answer.redirected) {
          const page = new DOMParser().parseFromString(await answer.text(), "text/html");
          for (const part of all(SELECTOR)) {
            const next = page.getElementById(part.id);
            if (next && !isBusy(part)) morph(part, next);
          }
          shown = asked;
          showCount();
          document.dispatchEvent(new Event("htmx:load"));
          document.querySelector(".selectable [name=run]:checked")?.dispatchEvent(new Event("change", { bubbles: true }));
        }
      } catch { /* the network is down: the stream connects again */ }
    }
    timer = 0;
    if (busy.length || document.hidden) kinds.forEach((kind) => wanted.add(kind));
    // While responses are slow, many open pages send fewer requests.
    const pause = Math.max(1000, 8 * (performance.now() - asked));
    rest = asked + pause;
    if (wanted.size && !document.hidden) later(busy.length ? 2000 : pause);
  };
  const want = (kinds) => {
    kinds.forEach((kind) => wanted.add(kind));
    later(Math.max(rest - performance.now(), 300 * Math.random()));
  };

  let stream = null, failures = 0, isOver = false;
  const close = () => {
    if (stream?.readyState === EventSource.OPEN && !wanted.size && !timer) shown = performance.now() - LOOK_MS;
    stream?.close();
    stream = null;
  };
  const open = () => {
    if (document.hidden || stream || isOver) return;
    if (wanted.size) want([]);
    stream = new EventSource(`${events}?age=${Math.max(0, Math.ceil(performance.now() - shown))}`);
    stream.addEventListener("open", () => { failures = 0; });
    stream.addEventListener("change", (event) => want(event.data.split(" ")));
    stream.addEventListener("end", () => { isOver = true; close(); });
    stream.addEventListener("error", () => {
      close();
      setTimeout(open, Math.min(SLOWEST_MS, 1000 * 2 ** failures++) * (0.5 + Math.random()));
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();

  // <section id data-refresh="2">: changes that no event reports are requested every 2 seconds.
  const polled = document.querySelector("[data-refresh]");
  if (polled) {
    const polls = setInterval(() => {
      if (document.querySelector("[data-refresh]")) want(["poll"]);
      else clearInterval(polls);
    }, 1000 * polled.dataset.refresh);
  }
})();
