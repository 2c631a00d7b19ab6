// Keys, the palette, notes, and a settle form's choices. Everything here is a shortcut for something that the page does
// without it. Keys rest while one is typing; a key that does something is printed on its button (data-key).
"use strict";

{
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const shown = (element) => element && element.checkVisibility({ visibilityProperty: true });
  const typing = (element) =>
    element?.closest("input:not([type=radio], [type=checkbox], [type=hidden]), textarea, select, [contenteditable]");

  // ---- notes

  const TOAST = 12000;
  const later = new WeakMap();

  const fade = (toast) => {
    clearTimeout(later.get(toast));
    later.set(toast, setTimeout(() => {
      if (toast.matches(":hover, :focus-within")) fade(toast);
      else toast.remove();
    }, TOAST));
  };
  const watchToasts = () => {
    const toasts = $("#toasts");
    if (!toasts) return;
    $$("[data-toast]:not([role=alert])", toasts).forEach(fade);
    new MutationObserver((changes) => {
      changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.matches?.("[data-toast]:not([role=alert])")).forEach(fade);
      while (toasts.children.length > 3) toasts.firstElementChild.remove();
    }).observe(toasts, { childList: true });
  };
  const say = (name) => $("#toasts")?.append($(`#w-${name}`).content.cloneNode(true));

  // ---- opening and closing

  document.addEventListener("click", (event) => {
    const close = event.target.closest("[data-close]");
    if (close) return close.closest(close.dataset.close)?.remove();
    const popover = event.target.closest("[data-popover]");
    if (popover && document.getElementById(popover.dataset.popover)?.popover) {
      event.preventDefault();
      document.getElementById(popover.dataset.popover).showPopover();
      return $("input:not([type=hidden])", document.getElementById(popover.dataset.popover))?.focus();
    }
    const hide = event.target.closest("[data-hide]");
    if (hide && document.getElementById(hide.dataset.hide)?.popover) {
      event.preventDefault();
      return document.getElementById(hide.dataset.hide).hidePopover();
    }
    const open = event.target.closest("[data-open]");
    if (open && document.getElementById(open.dataset.open)) {
      event.preventDefault();
      const details = document.getElementById(open.dataset.open);
      details.open = true;
      details.scrollIntoView({ block: "nearest" });
      return $("textarea, input:not([type=radio], [type=hidden])", details)?.focus();
    }
    const keep = event.target.closest("[data-keep]");
    if (keep && keep.closest("#settle")) {
      event.preventDefault();
      $("#settle").replaceChildren();
      document.dispatchEvent(new CustomEvent("vigente:kept"));
    }
    const pick = event.target.closest("[data-pick]");
    if (pick) {
      $$(`input[type=radio][value="${pick.dataset.pick}"]`, pick.form).forEach((radio) => { radio.checked = true; });
    }
    const press = event.target.closest("[data-press]");
    if (press) {
      press.closest("[popover]")?.hidePopover();
      act(press.dataset.press);
    }
  });

  document.addEventListener("input", (event) => {
    const input = event.target;
    if (input.name?.startsWith("other-")) {
      const radio = $(`input[type=radio][name="pick-${input.name.slice(6)}"][value=other]`, input.form);
      if (radio) radio.checked = true;
    }
  });

  // ---- the palette

  const palette = () => $("#palette");
  const ways = () => $$("#palette a, #palette li > button").filter((way) => shown(way) && !way.dataset.out);
  let before = null;

  const select = (way) => {
    $$("#palette [aria-selected]").forEach((other) => other.removeAttribute("aria-selected"));
    way?.setAttribute("aria-selected", "true");
    way?.scrollIntoView({ block: "nearest" });
  };
  const filter = () => {
    const words = $("#palette-q").value.trim().toLocaleLowerCase();
    $$("#palette [data-ways] li").forEach((item) => {
      item.hidden = words !== "" && !item.textContent.toLocaleLowerCase().includes(words);
    });
    $$("#palette [data-ways]").forEach((list) => {
      const empty = !list.querySelector("li:not([hidden])");
      list.hidden = empty;
      list.previousElementSibling.hidden = empty;
    });
    select(words ? ways()[0] : null);
  };
  document.addEventListener("toggle", (event) => {
    if (event.target === palette() && event.newState === "closed" && before?.isConnected) before.focus();
  }, true);
  document.addEventListener("input", (event) => { if (event.target.id === "palette-q") filter(); });
  document.addEventListener("htmx:afterSwap", (event) => { if (event.target.id === "found") select(ways()[0]); });
  document.addEventListener("keydown", (event) => {
    if (event.target.id !== "palette-q") return;
    const all = ways();
    const here = all.findIndex((way) => way.hasAttribute("aria-selected"));
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      select(all[(here + step + all.length) % all.length]);
    } else if (event.key === "Enter" && all[here]) {
      event.preventDefault();
      all[here].click();
    }
  });

  // At once, not when "toggle" comes: by then somebody has typed on, and to select would have the next key wipe that out.
  const openPalette = () => {
    if (!palette() || palette().matches(":popover-open")) return;
    before = document.activeElement;
    palette().showPopover();
    $$("#palette [data-press]").forEach((way) => {
      way.hidden = !"z?".includes(way.dataset.press) && !shown($(`[data-key="${way.dataset.press}"]:not([data-press])`));
    });
    filter();
    $("#palette-q").focus();
    $("#palette-q").select();
  };
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.('[popovertarget="palette"]')) return;
    event.preventDefault();
    openPalette();
  });

  // ---- keys

  const GO = { d: "my_day", b: "board", i: "inbox", s: "suggestions", c: "companies", p: "contacts" };
  let went = 0;

  const act = (key) => {
    const settle = $("[data-settle]");
    const target = $$(`[data-key="${key}"]`, settle ?? document).find(shown);
    if (target) return target.click(), true;
    if (key === "?") return $("#keys").showPopover(), true;
    if (key === "z" && window.vigente?.undo) return window.vigente.undo(), true;
    return false;
  };

  const rows = () => $$("[data-row]").filter(shown);
  const step = (by) => {
    const all = rows();
    if (!all.length) return false;
    const here = all.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
    const next = here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by));
    const row = all[next];
    if (row.tabIndex < 0 && !row.hasAttribute("tabindex")) row.tabIndex = -1;
    row.focus();
    row.scrollIntoView({ block: "nearest" });
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return openPalette();
    }
    if (event.key === "Escape" && typing(event.target)) {
      const cancel = event.target.closest("[data-editing]")?.querySelector("[data-cancel]");
      if (cancel && !event.target.closest("[popover]")) return cancel.click();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.target.closest("[popover]")) return;
    const key = event.key.toLowerCase();
    const settle = $("[data-settle]");
    if (settle && key === "enter" && !event.target.closest("a, button, summary")) {
      event.preventDefault();
      return settle.requestSubmit($("button.primary", settle) ?? undefined);
    }
    if (went && event.timeStamp - went < 1200 && GO[key]) {
      went = 0;
      const way = $(`[data-nav="${GO[key]}"]`);
      if (way) { event.preventDefault(); way.click(); }
      return;
    }
    went = 0;
    if (key === "g") went = event.timeStamp;
    else if (key === "?") { event.preventDefault(); before = document.activeElement; $("#keys")?.showPopover(); }
    else if (key === "j") { if (step(1)) event.preventDefault(); }
    else if (key === "k") { if (step(-1)) event.preventDefault(); }
    else if (/^[a-z]$/.test(key) && !event.shiftKey && !event.repeat) { if (act(key)) event.preventDefault(); }
  });

  // ---- sending: as who, and with the token of the session there is

  // Signing in again in another tab renews the token; the cookie has it, a form that was open before has the old one.
  // `opened_by` is whose page this is: the server sends nothing of theirs in another person's name (crm/middleware.py).
  const sending = () => ({
    token: document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "",
    who: document.body.dataset.who ?? "",
  });
  const sign = (form) => {
    const held = form.elements.namedItem("csrfmiddlewaretoken");
    const { token } = sending();
    if (held && token) held.value = token;
  };
  // Added to what is sent, not to the form: whoever goes back finds the form, and what they typed, as it was.
  document.addEventListener("formdata", ({ target, formData }) => {
    if (target.elements.namedItem("csrfmiddlewaretoken") && sending().who) formData.set("opened_by", sending().who);
  });
  document.addEventListener("submit", (event) => sign(event.target), true);
  document.addEventListener("htmx:configRequest", (event) => {
    const { verb, headers, parameters } = event.detail;
    if (verb === "get") return;
    const { token, who } = sending();
    if (who) headers["X-Opened-By"] = who;
    if (!token) return;
    headers["X-CSRFToken"] = token;
    if (parameters.csrfmiddlewaretoken) parameters.csrfmiddlewaretoken = token;
  });
  window.vigente = { ...window.vigente, sending };

  // ---- htmx: what comes back

  document.addEventListener("htmx:beforeSwap", (event) => {
    // Only pages of ours are put into the page: a proxy's plain "502" would be nonsense in a form's place.
    const type = event.detail.xhr.getResponseHeader("Content-Type") ?? "";
    if (event.detail.xhr.status >= 400 && !type.includes("text/html")) {
      event.detail.shouldSwap = false;
      say("unsaved");
    }
  });
  for (const name of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    document.addEventListener(name, (event) => {
      if (event.detail.requestConfig?.verb !== "get" || name === "htmx:responseError") say("unsaved");
    });
  }
  // A row that opens takes the focus into its field; one that is cancelled leaves it where it was opened.
  document.addEventListener("htmx:load", (event) => {
    const row = event.detail.elt;
    const field = row.matches?.("[data-editing]") && $("input:not([type=hidden]), select, textarea", row);
    if (field) { field.focus(); field.select?.(); }
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const { requestConfig, target } = event.detail;
    if (requestConfig?.elt.matches("[data-cancel]")) $(".value", document.getElementById(target.id))?.focus({ preventScroll: true });
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id === "settle") $("[data-focus]", event.detail.target)?.focus();
  });

  // ---- times that go on

  const words = $("#w-times")?.dataset;
  const told = (at) => {
    const seconds = Math.floor((Date.now() - at) / 1000);
    if (seconds < 1) return words.now;
    if (seconds < 60) return words.s.replace("%(n)d", seconds);
    if (seconds < 3600) return words.min.replace("%(n)d", Math.floor(seconds / 60));
    return words.h.replace("%(n)d", Math.floor(seconds / 3600));
  };
  const tick = () => $$("time[datetime][data-ago]").forEach((time) => {
    const at = Date.parse(time.dateTime);
    if (Date.now() - at < 86_400_000) time.textContent = told(at);
  });
  setInterval(tick, 10_000);

  watchToasts();
  if (!location.hash) $("[data-editing] :is(input:not([type=hidden]), select, textarea)")?.focus();
  if ($("[data-settle] [data-focus]")) $("[data-settle] [data-focus]").focus({ preventScroll: true });
}
