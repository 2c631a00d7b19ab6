// The inbox: the clock of the agent's answer, lists and thread kept true while they are open, and small helps at the
// form. The thread's parts are renewed by live.js; here is what is peculiar to a conversation. Without it all forms work.
"use strict";

{
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const shown = () => $("#shown");
  const thread = () => $("#thread");

  // ---- the clock: the server says how many seconds are left, so that no two clocks need agree

  const due = new WeakMap(); // element -> when it reaches zero, by this page's own clock
  const words = () => $("#w-inbox")?.dataset ?? {};
  let asked = 0;
  const tick = () => {
    for (const place of $$("[data-left]")) {
      if (!due.has(place)) due.set(place, performance.now() + Number(place.dataset.left) * 1000);
      const left = (due.get(place) - performance.now()) / 1000;
      if (place.tagName === "PROGRESS") { place.value = Math.max(0, left); continue; }
      const text = left >= 0.5 ? words().in?.replace("%(n)d", Math.round(left)) : words().now;
      const at = $("[data-words]", place) ?? place;
      if (text && at.textContent !== text) at.textContent = text;
      // The turn's own news may have been missed: ask, now and then, until it is there.
      if (left < -1 && place.closest("#turn") && performance.now() - asked > 2000) {
        asked = performance.now();
        window.vigente.refresh();
      }
    }
  };
  setInterval(tick, 250);

  // ---- news: the list, and what is no version of the conversation (a turn, a delivery)

  let later = 0;
  let grown = false; // further pages were loaded into the list: it is not folded up under the reader
  const renewList = () => {
    clearTimeout(later);
    later = setTimeout(() => {
      const region = $("#inbox-region");
      if (!region || grown || document.hidden) return;
      htmx.ajax("GET", region.dataset.rows, { target: "#inbox-region", swap: "outerHTML" }).catch(() => {});
    }, 200);
  };
  document.addEventListener("vigente:changed", (event) => {
    const { subject, version } = event.detail;
    if (!subject.startsWith("crm.conversation:")) return;
    renewList();
    if (shown()?.dataset.subject === subject && version === 0) window.vigente.refresh();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) renewList(); });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (String(event.detail.requestConfig?.path).includes("after=")) grown = true;
    if (event.detail.requestConfig?.elt?.closest?.(".list form")) grown = false;
  });

  // What is on its way is asked after, ever more slowly: a hint may be lost.
  let pause = 1000;
  const follow = () => {
    setTimeout(async () => {
      if (shown()?.hasAttribute("data-under-way") && !document.hidden) {
        await window.vigente.refresh();
        pause = Math.min(pause * 2, 60_000);
      } else pause = 1000;
      follow();
    }, pause);
  };
  follow();

  // ---- the thread: at its end, unless one reads further up; what is new is read aloud once

  const scroller = () => {
    const pane = thread();
    return pane && getComputedStyle(pane).overflowY === "auto" && pane.scrollHeight > pane.clientHeight ? pane : document.scrollingElement;
  };
  const atEnd = () => { const s = scroller(); return s.scrollHeight - s.scrollTop - s.clientHeight < 120; };
  const toEnd = () => { const s = scroller(); s.scrollTop = s.scrollHeight; };
  let known = new Set();
  const keys = () => $$("#talking > [id]").map((line) => line.id);
  let stay = true;
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target.id === "talking") stay = atEnd();
  });
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    if (event.detail.target.id !== "talking") return;
    for (const line of $$("#talking > [id]")) {
      if (known.has(line.id) || line.id === "end") continue;
      const said = document.createElement("p");
      said.textContent = line.innerText;
      $("#heard")?.append(said);
    }
    known = new Set(keys());
    if (stay) toEnd();
    count();
  });

  // A line of the customer counts as seen when it has been on the screen for a moment. What was said by ours, and the
  // version, stay as they were when the message was begun.
  const MOMENT = 1500;
  let counting = 0;
  const count = () => {
    clearTimeout(counting);
    const counter = shown()?.dataset.counter;
    counting = setTimeout(() => {
      if (document.hidden || !atEnd() || shown()?.dataset.counter !== counter) return;
      const seen = $("#composer [name=seen]");
      if (seen && Number(seen.value) < Number(counter)) seen.value = counter;
    }, MOMENT);
  };

  // ---- the form

  let signed = 0;
  document.addEventListener("input", (event) => {
    const to = shown()?.dataset.typing;
    if (event.target.id !== "say" || !event.target.value || !to || Date.now() - signed < 3000) return;
    signed = Date.now();
    const { token, who } = window.vigente.sending();
    fetch(to, { method: "POST", headers: { "X-CSRFToken": token || JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"], ...(who && { "X-Opened-By": who }) } }).catch(() => {});
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("#say, #note-text")) {
      event.preventDefault();
      event.target.form.requestSubmit($("[data-sends], button:not([type=button], [name=leave])", event.target.form));
    }
  });
  document.addEventListener("click", (event) => {
    const focus = event.target.closest("[data-focus]:not([tabindex])");
    if (focus?.dataset.focus) return $(focus.dataset.focus)?.focus();
    const fill = event.target.closest("[data-fill]");
    const use = event.target.closest("[data-use]");
    const say = $("#say");
    if ((fill || use) && say && !say.disabled) {
      event.preventDefault();
      fill?.closest("[popover]")?.hidePopover();
      const text = fill ? fill.dataset.fill : $(use.dataset.use)?.innerText ?? "";
      say.value = [say.value.trim(), text].filter(Boolean).join("\n\n");
      say.focus();
      say.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.requestConfig?.elt;
    if (!form?.matches?.("[data-send]") || event.detail.xhr.status >= 400) return;
    setTimeout(() => { toEnd(); $("#say")?.focus({ preventScroll: true }); });
  });

  known = new Set(keys());
  if (thread() && shown()) { toEnd(); count(); }
  tick();
}
