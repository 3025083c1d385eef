"use strict";
// Updates the page of an active run: follows the log and replaces changed parts.
(() => {
// <div class="log" data-follow>: scrolls to new lines, unless the user pauses it or scrolls up.
for (const log of document.querySelectorAll("[data-follow]")) {
  const pause = document.querySelector("[data-follow-pause]");
  const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 24;
  let following = true;
  const set = (on) => {
    following = on;
    pause?.setAttribute("aria-pressed", String(!on));
    log.setAttribute("aria-live", on ? "polite" : "off");
    if (on) log.scrollTop = log.scrollHeight;
  };
  if (pause) {
    pause.hidden = false;
    pause.addEventListener("click", () => set(!following));
  }
  log.addEventListener("scroll", () => { if (!atEnd() && following) set(false); }, { passive: true });
  new MutationObserver(() => { if (following) log.scrollTop = log.scrollHeight; })
    .observe(log, { childList: true, subtree: true });
  set(true);
}

// <button data-notify="run id" data-on data-blocked hidden>: shows a notification of the system when the run ends.
const button = document.querySelector("[data-notify]"), key = `notify ${button?.dataset.notify}`;
const label = button?.querySelector("[data-label]"), off = label?.textContent;
const showNotify = () => {
  const isBlocked = Notification.permission === "denied", isOn = !isBlocked && sessionStorage.getItem(key) === "1";
  button.setAttribute("aria-pressed", String(isOn));
  label.textContent = isBlocked ? button.dataset.blocked : isOn ? button.dataset.on : off;
};
if (button && "Notification" in window && isSecureContext) {
  button.hidden = false;
  showNotify();
  button.addEventListener("click", async () => {
    const isOn = button.getAttribute("aria-pressed") === "true";
    if (!isOn && Notification.permission === "default") await Notification.requestPermission();
    sessionStorage.setItem(key, !isOn && Notification.permission === "granted" ? "1" : "0");
    showNotify();
  });
}
const notifyOfEnd = () => {
  if (!button || button.hidden) return;
  if (button.getAttribute("aria-pressed") === "true") {
    const pill = document.getElementById("run-pill").textContent.trim().replace(/\s+/g, " ");
    const shown = new Notification(document.title.replace(/^\(\d+\) /, ""), { body: pill, tag: key });
    shown.onclick = () => { window.focus(); shown.close(); };
  }
  sessionStorage.removeItem(key);
  button.hidden = true;
};

// <div data-live="…" data-events="…">: an event triggers a request for HTML that the server renders.
const live = document.querySelector("[data-live]");
if (live) {
  const log = document.getElementById("log"), empty = document.getElementById("log-empty");
  const LINES = 1, ALL = 2, WHOLE_MS = 20000;
  let position = live.dataset.position, busy = false, wanted = 0, over = false, timer = 0;
  let wholeUntil = performance.now() + WHOLE_MS;
  const show = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const part of page.querySelectorAll("[data-live-part]")) {
      const old = document.getElementById(part.id);
      const busyHere = old?.querySelector(":popover-open") || (old?.contains(document.activeElement) && part.id !== "run-outcome");
      const opened = old?.querySelector("details[open]:not([data-opened])");
      if (part.dataset.mark) document.title = document.title.replace(/^(\(\d+\) )?./u, `$1${part.dataset.mark}`);
      if (old && !(opened && part.id === "run-steps") && !busyHere && old.innerHTML !== part.innerHTML) old.replaceWith(part);
    }
    const fresh = page.getElementById("log-new");
    if (fresh.children.length && log) {
      log.append(...fresh.children);
      empty.hidden = true;
      log.parentNode.hidden = false;
    }
    position = fresh.dataset.position || position;
    over = fresh.hasAttribute("data-ended");
  };
  // New lines are frequent and fast to render. Other parts are requested if they may have changed, and periodically.
  const look = async (event) => {
    const asked = performance.now();
    wanted = Math.max(wanted, event?.type === "log" && asked < wholeUntil ? LINES : ALL);
    if (busy) return;
    const part = wanted === LINES ? "&part=log" : "";
    busy = true;
    wanted = 0;
    if (!part) wholeUntil = asked + WHOLE_MS;
    try {
      const answer = await fetch(`${live.dataset.live}?attempt=${live.dataset.attempt}&position=${position}${part}`);
      if (answer.ok) show(await answer.text());
    } catch { /* the network is down: the next request may succeed */ }
    if (over) {
      notifyOfEnd();
      clearInterval(timer);
      log?.removeAttribute("role");
      log?.removeAttribute("aria-live");
      document.querySelector("[data-follow-pause]")?.remove();
      if (empty) empty.textContent = empty.dataset.ended;
      return;
    }
    const pause = Math.max(400, 8 * (performance.now() - asked));
    setTimeout(() => { busy = false; if (wanted) look({ type: "log" }); }, pause);
  };
  const poll = () => { timer ||= setInterval(look, 2000); };
  const bell = new EventSource(live.dataset.events);
  for (const name of ["log", "progress", "step", "status"]) bell.addEventListener(name, look);
  bell.addEventListener("end", () => { bell.close(); look(); poll(); });
  bell.addEventListener("error", () => { if (bell.readyState === EventSource.CLOSED) poll(); });
}
})();
