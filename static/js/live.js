// Live: an event stream from the server, told to the page as `vigente:changed`; where it is cut, the page asks now and
// then, and says that it may be out of date. A part that is only read is renewed together with the version in its
// forms; a part in which somebody is typing, or which they have opened, is left as it is, version and all.
"use strict";

{
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const live = $("#live");
  const token = () => window.vigente.sending().token || JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
  const subject = () => $("#shown")?.dataset.subject ?? "";
  const version = () => Number($("#shown")?.dataset.version ?? 0);

  // ---- what somebody is working on

  const dirty = (form) => [...form.elements].some((field) => {
    if (field.type === "hidden" || field.type === "submit" || field.type === "button") return false;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") {
      const preset = [...field.options].some((option) => option.defaultSelected);
      return preset ? [...field.options].some((option) => option.selected !== option.defaultSelected) : field.selectedIndex > 0;
    }
    return "defaultValue" in field && field.value !== field.defaultValue;
  });
  const busyForm = (form) => {
    if (form.dataset.sent) return false;
    return Boolean(form.closest("[data-editing]")) || dirty(form) || form.contains(document.activeElement) && Boolean(document.activeElement.matches("input:not([type=hidden]), textarea, select"));
  };
  const busy = (part) => {
    const forms = part.matches("form") ? [part] : $$("form", part);
    // What has asked waits for its own answer: htmx could not place that answer if the asker were gone.
    if ([part, ...$$("[data-flying]", part)].some((asker) => asker.hasAttribute("data-flying") && asker !== answered)) return true;
    // Behind an open choice the form is kept: "Keep editing" gives it back with all that was typed.
    if (forms.some((form) => form.dataset.sent === "waits") && $("#settle [data-settle]")) return true;
    if (forms.some((form) => form.dataset.sent)) return forms.some((form) => !form.dataset.sent && dirty(form));
    return forms.some(busyForm) || Boolean(part.querySelector(":popover-open"));
  };

  // Posts on their way. News of one's own save may be here before its answer: renewing the part then would take away
  // the form that htmx puts the answer beside, and the answer with it.
  let flying = 0;
  let answered = null; // whose answer is being put into the page
  document.addEventListener("htmx:beforeSwap", (event) => { answered = event.detail.requestConfig.elt; });
  document.addEventListener("htmx:beforeRequest", (event) => {
    event.detail.elt.setAttribute("data-flying", "");
    if (event.detail.requestConfig.verb !== "post") return;
    flying += 1;
    const form = event.detail.elt.closest("form");
    if (form) form.dataset.sent = "1";
  });
  const release = () => $$("form[data-sent]").forEach((form) => { if (!form.matches("[data-settle]")) delete form.dataset.sent; });
  document.addEventListener("htmx:afterRequest", (event) => {
    const asker = event.detail.requestConfig?.elt ?? event.detail.elt; // it may have left the page with its answer
    asker.removeAttribute("data-flying");
    if (event.detail.requestConfig?.verb === "post") {
      flying = Math.max(0, flying - 1);
      if (!flying && waiting) { waiting = false; setTimeout(() => { if (forced || wanted > version()) refresh(); }); }
    }
    // 409: the form waits behind the choice; settled it is done, kept it is open again.
    const form = asker.closest?.("form");
    if (event.detail.xhr?.status !== 409) {
      if (form) delete form.dataset.sent;
    } else if (form?.dataset.sent && !form.matches("[data-settle]")) form.dataset.sent = "waits";
  });
  document.addEventListener("vigente:kept", release);

  let held = null;
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const part = event.detail.target;
    if (busy(part)) {
      event.detail.shouldSwap = false;
      return;
    }
    if (part.contains(document.activeElement)) hold(part, document.activeElement.id);
  });
  // The focus returns to where one was, once all parts of an answer are in place.
  const hold = (part, id = "") => {
    held = { part: part.id, id };
    setTimeout(restore);
  };
  const restore = () => {
    if (!held || ![document.body, null].includes(document.activeElement)) return;
    const part = document.getElementById(held.part);
    const there = (held.id && document.getElementById(held.id)) || (part && $(".value, button, summary, input:not([type=hidden])", part));
    held = null;
    there?.focus({ preventScroll: true });
  };

  // ---- the page's parts

  const editing = () => $$("[data-editing]").map((edit) => edit.dataset.editing).join(",");
  document.addEventListener("htmx:configRequest", (event) => {
    const line = $("#line");
    if (!line || !subject()) return;
    event.detail.parameters.editing ??= editing();
    if (line.dataset.who) event.detail.parameters.who ??= line.dataset.who;
    if (line.dataset.first && !String(event.detail.path).includes("before=")) event.detail.parameters.down_to ??= line.dataset.first;
  });

  let asking = false;
  let waiting = false; // for the posts on their way
  let wanted = 0; // the newest version heard of
  let forced = false;
  let again = false;
  let wait = 2000; // ms until what was heard of and could not be fetched is asked for again
  const refresh = async ({ since = version() } = {}) => {
    const parts = $("#shown")?.dataset.parts;
    if (!parts) return;
    if (flying) { waiting = true; return; }
    if (asking) { again = true; return; }
    asking = true;
    forced = false;
    try {
      await htmx.ajax("GET", `${parts}?since=${since}`, { swap: "none", target: "#notice" });
    } catch {
      // Not reached: told by htmx:sendError, asked again below.
    } finally {
      asking = false;
      if (again) { again = false; refresh(); }
      else if (wanted > version()) { setTimeout(() => { if (wanted > version()) news(); }, wait); wait = Math.min(wait * 2, 60_000); }
      else wait = 2000;
    }
  };
  // What was news stays news until it is hidden: the next sentence tells everything since then.
  let seen = version();
  const news = () => { refresh({ since: $("[data-news]") ? Math.min(seen, version()) : (seen = version()) }); };

  document.addEventListener("vigente:changed", (event) => {
    const change = event.detail;
    if (change.subject !== subject() || change.version <= version()) return;
    wanted = Math.max(wanted, change.version);
    news();
  });
  const renew = () => { forced = true; return refresh(); };
  // What is shown on this page and is no part of its subject: the conversations of a deal or a contact.
  let soon = 0;
  document.addEventListener("vigente:changed", ({ detail: { subject: other, places, aspects } }) => {
    if (!subject() || other === subject() || aspects?.join() === "typing") return;
    const row = $(`#talks #row-${other.split(":")[1]}`);
    if (!places?.includes(subject()) && !(row && other.startsWith("crm.conversation:"))) return;
    clearTimeout(soon);
    soon = setTimeout(renew, 250);
  });
  document.addEventListener("vigente:refresh", () => renew());
  document.addEventListener("vigente:settled", () => {
    $("#settle")?.replaceChildren();
    const settled = $("form[data-sent]")?.closest("[id]");
    if ($("#shown")?.dataset.parts) renew().then(() => { if (settled) hold(settled); });
    else location.reload();
  });
  const tell = (change) => document.dispatchEvent(new CustomEvent("vigente:changed", { detail: change }));

  window.vigente = {
    ...window.vigente,
    refresh,
    undo() {
      htmx.ajax("POST", $("#w-undo").dataset.to, { swap: "none", target: "#notice", values: { subject: subject() } });
    },
  };

  // ---- the stream

  let source = null;
  let fresh = Date.now();
  let since = new Date().toISOString();
  let pause = 1000;
  let cutAt = 0;
  let noted = false;
  let heard = false; // an open line is not enough: without its bus the server has nothing to say

  const show = (on) => {
    if (!live) return;
    live.dataset.live = on ? "on" : "cut";
    live.textContent = on ? live.dataset.on : live.dataset.off;
    if (on) { cutAt = 0; noted = false; $("[data-cut]")?.remove(); }
    else cutAt ||= Date.now();
  };

  const connect = () => {
    source?.close();
    const url = new URL(live.dataset.stream, location.href);
    if (subject()) url.searchParams.set("subject", subject());
    source = new EventSource(url);
    source.addEventListener("ready", () => { heard = true; show(true); pause = 1000; check(); });
    source.addEventListener("changed", (event) => { fresh = Date.now(); tell(JSON.parse(event.data)); });
    source.addEventListener("here", (event) => { const place = $("#presence"); if (place) place.innerHTML = JSON.parse(event.data).html; });
    source.onerror = () => {
      heard = false;
      if (source.readyState !== EventSource.CLOSED) { setTimeout(() => { if (!heard) show(false); }, 3000); return; }
      show(false);
      setTimeout(connect, pause);
      pause = Math.min(pause * 2, 60_000);
    };
  };

  // Ask what changed. Gives whether the server was reached, and whether this page is behind.
  const check = async () => {
    const url = new URL(live.dataset.check, location.href);
    if (subject()) url.searchParams.set("subject", subject());
    else url.searchParams.set("since", since);
    try {
      const answer = await fetch(url, { headers: { Accept: "application/json" }, redirect: "error" });
      if (!answer.ok) throw new Error(answer.status);
      const body = await answer.json();
      const behind = body.changed.some((change) => !subject() || change.version > version());
      since = body.now;
      fresh = Date.now();
      body.changed.forEach(tell);
      return { reached: true, behind };
    } catch { return { reached: false, behind: false }; }
  };

  setInterval(async () => {
    if (document.hidden || live.dataset.live !== "cut") return;
    const { reached } = await check();
    if (!reached && !noted && Date.now() - cutAt > 20_000) {
      noted = true;
      $("#notice")?.append($("#w-cut").content.cloneNode(true));
    }
  }, 10_000);

  // A page that nobody looks at gives its stream back (a browser has only a few per site) and asks when it is seen
  // again. One that was left for long says so, before anybody works on it.
  const OLD = 30 * 60_000;
  let rest = 0;
  const returned = async () => {
    const opened = new Date(fresh);
    const { reached, behind } = await check();
    if (!source || source.readyState === EventSource.CLOSED) connect();
    if (Date.now() - opened < OLD || $("[data-old]") || (reached && !behind)) return;
    const note = $("#w-old").content.cloneNode(true);
    $("[data-since]", note).textContent = opened.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    $("#notice")?.append(note);
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(rest);
    if (document.hidden) rest = setTimeout(() => { source?.close(); source = null; }, 30_000);
    else returned();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) { connect(); returned(); } });
  window.addEventListener("pagehide", () => source?.close());

  // ---- who is here

  const doing = () => {
    const active = document.activeElement;
    return $("[data-editing]")?.dataset.editing ?? (active?.dataset?.doing || "");
  };
  let told = "";
  const here = (what = doing()) => {
    if (!subject()) return;
    const sign = new FormData();
    sign.set("subject", subject());
    sign.set("doing", what);
    sign.set("sent", Date.now());
    sign.set("csrfmiddlewaretoken", token());
    told = what;
    navigator.sendBeacon(live.dataset.here, sign);
  };
  if (live) {
    connect();
    if (subject()) {
      here();
      setInterval(() => { if (!document.hidden) here(); }, 20_000);
      for (const name of ["focusin", "focusout", "htmx:afterSettle"]) {
        document.addEventListener(name, () => setTimeout(() => { if (doing() !== told) here(); }, 50));
      }
      window.addEventListener("pagehide", () => here("gone"));
    }
  }
}
