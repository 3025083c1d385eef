"use strict";
// Conveniences only: every page works without this script.
(() => {
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const on = (target, names, act) => names.split(" ").forEach((name) => target?.addEventListener(name, act));
const keep = (name, value) => {
  document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=31536000; samesite=lax`;
};

// The server shows times in the time zone in this cookie.
keep("zone", Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");

// Swagger UI has dark colors of its own, under this class.
const root = document.documentElement, darkScreen = matchMedia("(prefers-color-scheme: dark)");
const markDark = () => {
  root.classList.toggle("dark-mode", root.dataset.theme === "dark" || (root.dataset.theme === "auto" && darkScreen.matches));
};
markDark();
on(darkScreen, "change", markDark);

// Swagger UI skips a heading level, adds a second main landmark, and its list of servers has no name.
const api = document.getElementById("swagger-ui");
if (api) {
  new MutationObserver(() => {
    for (const title of all("h3:not([aria-level]), h4:not([aria-level])", api)) title.setAttribute("aria-level", title.tagName[1] - 1);
    api.querySelector("main")?.setAttribute("role", "group");
    api.querySelector("#servers")?.setAttribute("aria-label", api.querySelector(".servers-title")?.textContent || "Servers");
  }).observe(api, { childList: true, subtree: true });
}

// Changes the theme at once; without scripts, the form's POST changes it.
for (const form of all("form[data-theme-form]")) {
  on(form, "submit", (event) => {
    event.preventDefault();
    const theme = event.submitter.value;
    keep("theme", theme);
    root.dataset.theme = theme;
    markDark();
    for (const button of all("button", form)) button.setAttribute("aria-pressed", button === event.submitter);
    form.closest("details").open = false;
  });
}

// <button class="copy" data-copy="#id" data-done="Copied" hidden>
const copyButtons = () => {
  for (const button of all("[data-copy][hidden]")) button.hidden = !navigator.clipboard;
};
copyButtons();
on(document, "htmx:load", copyButtons);
on(document, "click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.dataset.text ?? source.textContent);
  const label = button.querySelector("[data-label]") || button;
  const before = label.textContent;
  label.textContent = button.dataset.done;
  setTimeout(() => { label.textContent = before; }, 1500);
});

// Menus close on Escape and on a click outside.
const closeMenus = (except) => {
  for (const menu of all("details.menu[open]")) if (menu !== except) menu.open = false;
};
on(document, "click", (event) => closeMenus(event.target.closest("details.menu")));
on(document, "keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = event.target.closest("details.menu");
  closeMenus();
  menu?.querySelector("summary").focus();
});

// Success messages close after 8 s, unless the pointer or focus is on them.
const corner = document.getElementById("toasts");
for (const toast of all("#toasts .toast")) {
  const close = toast.querySelector("[data-close]");
  close.hidden = false;
  on(close, "click", () => toast.remove());
  if (toast.matches(".success")) setInterval(() => toast.matches(":hover, :focus-within") || toast.remove(), 8000);
}
corner?.classList.add("toasts");

// Shortcuts use Ctrl or ⌘, because single keys interfere with speech input and screen readers.
const mac = /Mac|iPhone|iPad/.test(navigator.platform);
for (const key of all("[data-shortcut]")) {
  key.textContent = `${mac ? "⌘" : "Ctrl "}${key.dataset.shortcut.replace(/^k$/, "K")}`;
  key.hidden = false;
}
const open = (dialog) => dialog.open || dialog.showModal();
const palette = document.getElementById("palette");
const shortcuts = document.getElementById("shortcuts");
on(document, "keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  if (event.key === "k") { event.preventDefault(); openPalette(); }
  if (event.key === "/") { event.preventDefault(); open(shortcuts); }
  if (event.key === "Enter" && event.target.matches("textarea, input")) event.target.form?.requestSubmit();
});
on(document, "click", (event) => {
  const opener = event.target.closest("[data-open-palette], [data-open-shortcuts]");
  if (!opener || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  document.querySelector("#sidebar:popover-open")?.hidePopover();
  opener.matches("[data-open-palette]") ? openPalette() : open(shortcuts);
});
for (const dialog of [palette, shortcuts]) {
  on(dialog, "click", (event) => { if (event.target === dialog) dialog.close(); });
}

// The command palette: the server searches; the arrow keys select.
const results = document.getElementById("palette-results");
const field = document.getElementById("palette-q");
let asked = 0;
const find = async () => {
  const mine = ++asked;
  const answer = await fetch(`${palette.dataset.url}?part=results&q=${encodeURIComponent(field.value)}`);
  if (mine !== asked || !answer.ok) return;
  results.innerHTML = await answer.text();
  choose(0);
};
const options = () => all("[role=option]", results);
const choose = (place) => {
  const rows = options();
  const wanted = rows[(place + rows.length) % rows.length];
  for (const row of rows) row.setAttribute("aria-selected", row === wanted);
  wanted?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", wanted?.id ?? "");
};
const openPalette = () => {
  open(palette);
  field.select();
  find();
};
let typing;
on(field, "input", () => {
  clearTimeout(typing);
  typing = setTimeout(find, 120);
});
on(field, "keydown", (event) => {
  const rows = options();
  const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown") choose(at + 1);
  else if (event.key === "ArrowUp") choose(at - 1);
  else if (event.key === "Enter" && rows[at]) rows[at].click();
  else return;
  event.preventDefault();
});

// A box with several ids ticks their boxes. [data-runs] is for ticked runs, [data-ticked] their number.
const ids = (list) => list.split(",");
on(document, "change", ({ target }) => {
  const boxes = all(".selectable [name=run]"), isIn = (list) => ({ value }) => ids(value).every((id) => list.includes(id));
  if (!boxes.includes(target)) return;
  for (const box of boxes.filter(isIn(ids(target.value)))) box.checked = target.checked;
  const ticked = boxes.filter((box) => box.checked && !box.value.includes(",")).map((box) => box.value);
  for (const box of boxes) box.checked = isIn(ticked)(box);
  for (const count of all("[data-ticked]")) count.textContent = new Set(ticked).size;
  for (const row of all("[data-runs]")) row.hidden = !ids(row.dataset.runs).some((id) => ticked.includes(id));
});

// Scrolls finished logs to their end, tabs to the current one.
for (const log of all("[data-at-end]")) log.scrollTop = log.scrollHeight;
for (const tab of all(".tabs [aria-current]")) tab.scrollIntoView({ block: "nearest" });

// Sends a file in chunks. The server continues an upload of the same file that was interrupted.
const sendFile = async (file, headers, signal, show) => {
  const ask = async (method, path, body) => {
    const answer = await fetch(`/api/v1/uploads${path}`, { method, headers, body, signal }), document = await answer.json();
    if (answer.ok) return document;
    throw document.message;
  };
  const { name, size } = file, key = `${location.pathname} ${file.lastModified}`;
  let { id, received } = await ask("POST", "", JSON.stringify({ name, size, key })), step = 2 ** 18;
  signal.onabort = () => fetch(`/api/v1/uploads/${id}`, { method: "DELETE", headers });
  while (received < size) {
    show(received / size);
    const began = Date.now();
    ({ received } = await ask("PUT", `/${id}?offset=${received}`, file.slice(received, received + step)));
    if (Date.now() - began < 1000 && step < 2 ** 23) step *= 2;
  }
  return id;
};

const LARGE = 1e6;  // bytes
const sizeOf = (values) => values.reduce((sum, { size }) => sum + (size ?? 0), 0);

// Joins a folder's files; the server splits them by `parts`.
const joined = (files) => new File(files, pathOf(files[0]).split("/")[0], {
  lastModified: files.reduce((sum, file) => sum + file.lastModified, 0),
});
const pathOf = (file) => file.webkitRelativePath || file.name;

// Sends a form with large files; its [data-part=upload] shows the progress. Redirects arrive as X-Location.
const upload = async (form, data) => {
  const [shown, failed] = all("[data-part^=upload]", form), [label, bar, stop] = shown.children;
  const control = new AbortController(), { signal } = control;
  const headers = { "Content-Type": "application/json", "X-CSRFToken": data.get("csrfmiddlewaretoken") };
  const show = (part) => {
    stop.hidden = part === 1;
    label.textContent = label.dataset[stop.hidden ? "sent" : "sending"];
    bar.value = part;
    if (stop.hidden) bar.removeAttribute("value");
  };
  stop.onclick = () => control.abort();
  shown.hidden = !(failed.hidden = true);
  shown.scrollIntoView({ block: "nearest" });
  try {
    for (const name of new Set(data.keys())) {
      const parts = data.getAll(name), folder = name === "folder", files = folder ? [joined(parts)] : parts;
      if (sizeOf(files) < LARGE) continue;
      data.delete(name);
      if (folder) data.append("parts", JSON.stringify(parts.map((file) => [pathOf(file), file.size])));
      for (const file of files) data.append(`upload:${name}`, await sendFile(file, headers, signal, show));
    }
    show(1);
    const answer = await fetch(location.href, { method: "POST", headers: { "X-Upload": "1" }, body: data });
    const place = answer.headers.get("X-Location"), page = await answer.text();
    shown.hidden = true;
    if (place) return location.assign(place);
    dispatchEvent(new Event("pagehide"));  // closes the stream of live.js
    document.open();
    document.write(page);
    document.close();
  } catch (reason) {
    failed.textContent = typeof reason === "string" ? reason : failed.dataset.text;
    failed.hidden = signal.aborted;
    shown.hidden = true;
  }
};
on(document, "submit", (event) => {
  const form = event.target, shown = form.querySelector("[data-part=upload]");
  if (!shown) return;
  const data = new FormData(form, event.submitter);
  if (shown.hidden && sizeOf([...data.values()]) < LARGE) return;
  event.preventDefault();
  if (shown.hidden) upload(form, data);
});

// <div class="drop"> checks a file or a folder at once.
const zone = document.querySelector(".drop");
const read = (source, method) => new Promise((done, failed) => source[method](done, failed));
const filesOf = async (entry) => {
  if (entry.isFile) return [[entry.fullPath.slice(1), await read(entry, "file")]];
  const reader = entry.createReader(), found = [];
  for (let some; (some = await read(reader, "readEntries")).length;) for (const each of some) found.push(...await filesOf(each));
  return found;
};
for (const hint of all("[data-drop-hint]")) hint.hidden = false;
on(zone, "dragover dragleave drop", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  zone.classList.toggle("over", event.type === "dragover");
});
on(zone, "drop", async ({ dataTransfer }) => {
  const entry = dataTransfer.items[0]?.webkitGetAsEntry();
  const form = zone.closest("form"), check = form.querySelector("[name=check]");
  form.elements.text.disabled = !!entry;
  if (entry?.isFile) {
    form.elements.archive.files = dataTransfer.files;
    form.requestSubmit(check);
  } else if (entry) {
    const data = new FormData(form, check);
    for (const field of ["archive", "folder"]) data.delete(field);
    for (const [path, file] of await filesOf(entry)) data.append("folder", file, path);
    upload(form, data);
  }
});

// Moves the focus to the errors of a refused form.
document.querySelector(".error-summary:not([data-part=component] *)")?.focus();
})();
