"use strict";
// Everything here is comfort: each page works without it.
(() => {
  const keep = (name, value) => {
    document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=31536000; samesite=lax`;
  };

  // The server writes times in the zone that this cookie names.
  keep("zone", Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");

  // Theme: at once here, and by the form's POST where scripts are off.
  for (const form of document.querySelectorAll("form[data-theme-form]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const theme = event.submitter.value;
      keep("theme", theme);
      document.documentElement.dataset.theme = theme;
      for (const button of form.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(button === event.submitter));
      }
      form.closest("details").open = false;
    });
  }

  // <button class="copy" data-copy="#id" data-done="Copied" hidden>: shown only where it can work.
  const copyButtons = () => {
    for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = !navigator.clipboard;
  };
  copyButtons();
  document.addEventListener("htmx:load", copyButtons);
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.querySelector(button.dataset.copy);
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    const label = button.querySelector("[data-label]") || button;
    const before = label.textContent;
    label.textContent = button.dataset.done;
    setTimeout(() => { label.textContent = before; }, 1500);
  });

  // Menus close on Escape and on a click elsewhere.
  const closeMenus = (except) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== except) menu.open = false;
  };
  document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = event.target.closest("details.menu");
    closeMenus();
    menu?.querySelector("summary").focus();
  });

  // <div class="log" data-follow>: stays at its end while lines arrive, until paused or scrolled up.
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

  // <div data-live="…" data-events="…">: the events are a doorbell; what is shown is made by the server alone.
  const live = document.querySelector("[data-live]");
  if (live) {
    const log = document.getElementById("log");
    const LINES = 1, ALL = 2, WHOLE_MS = 20000;
    let position = live.dataset.position, busy = false, wanted = 0, over = false, timer = 0;
    let wholeUntil = performance.now() + WHOLE_MS;
    const show = (text) => {
      const page = new DOMParser().parseFromString(text, "text/html");
      for (const part of page.querySelectorAll("[data-live-part]")) {
        const old = document.getElementById(part.id);
        const busyHere = old?.contains(document.activeElement) && part.id !== "run-outcome";
        const opened = old?.querySelector("details[open]");
        if (old && !(opened && part.id === "run-steps") && !busyHere && old.innerHTML !== part.innerHTML) old.replaceWith(part);
      }
      const fresh = page.getElementById("log-new");
      if (fresh.children.length && log) {
        log.append(...fresh.children);
        document.getElementById("log-empty").hidden = true;
      }
      position = fresh.dataset.position || position;
      over = fresh.hasAttribute("data-ended");
    };
    // Lines come often and are quickly made; the rest is looked at when it may have changed, and once in a while.
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
      } catch { /* the network is away: the next look may find it */ }
      if (over) {
        clearInterval(timer);
        log?.removeAttribute("role");
        log?.removeAttribute("aria-live");
        document.querySelector("[data-follow-pause]")?.remove();
        const empty = document.getElementById("log-empty");
        if (empty) empty.textContent = empty.dataset.ended;
        return;
      }
      const took = performance.now() - asked;  // a server with many readers is asked less often by each
      setTimeout(() => { busy = false; if (wanted) look({ type: "log" }); }, Math.max(400, 8 * took));
    };
    const poll = () => { timer ||= setInterval(look, 2000); };
    const bell = new EventSource(live.dataset.events);
    for (const name of ["log", "progress", "step", "status"]) bell.addEventListener(name, look);
    bell.addEventListener("end", () => { bell.close(); look(); poll(); });
    bell.addEventListener("error", () => { if (bell.readyState === EventSource.CLOSED) poll(); });
  }

  // The first thing to read after a refused form is what to mend.
  document.querySelector(".error-summary")?.focus();
})();
