// Suggestions on any page: a card that has been overtaken is renewed where it stands, before anybody presses it. One
// that somebody is working in keeps what was typed; its yes is taken away, and it says why. Without this, or with the
// line cut, the press itself answers with the reason: a yes is bound to what was shown.
"use strict";

{
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
  const cards = (subject) => $$("[data-suggestion]").filter((card) => card.dataset.restsOn.split(" ").includes(subject));
  const dirty = (form) => [...form.elements].some((field) => "defaultValue" in field && field.type !== "hidden" && field.value !== field.defaultValue);
  const busy = (card) =>
    Boolean($(":popover-open", card)) || $$("form:not([popover])", card).some((form) => form.matches(":focus-within") && $("input:not([type=hidden]), select", form) || dirty(form));

  const stop = (card) => {
    if (card.dataset.stopped) return;
    card.dataset.stopped = "1";
    $$("form[action*='/approve/'] button, button[value=approve]", card).forEach((button) => { button.disabled = true; });
    const note = document.createElement("p");
    note.className = "fine";
    note.dataset.tone = "warn";
    note.setAttribute("role", "status");
    note.textContent = card.dataset.moved;
    ($(".in", card) ?? card).append(note);
  };
  const renew = async (card) => {
    if (card.dataset.flying !== undefined || $("[data-flying]", card)) return; // its own answer comes
    // Decided: there is nothing to press, and what came of the press is still to be read.
    if (card.dataset.state !== "proposed" && $("[data-told]", card)) return;
    if (busy(card)) return stop(card);
    const ticked = $("input[name=pick]", card)?.checked;
    const answer = await fetch(card.dataset.url, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!answer?.ok || !card.isConnected) return;
    if (busy(card)) return stop(card);
    const part = document.createElement("template");
    part.innerHTML = await answer.text();
    const fresh = part.content.firstElementChild;
    if (!fresh) return;
    const focused = card.contains(document.activeElement);
    card.replaceWith(...part.content.childNodes);
    htmx.process(fresh);
    const box = $("input[name=pick]", fresh);
    if (box && ticked) box.checked = true;
    if (focused) $("button, a", fresh)?.focus({ preventScroll: true });
  };

  // The deal's own page renews its card with the rest (live.js), unless the deal stays as it is.
  const byItself = (card, change) =>
    card.closest("#suggestion") && change.subject === $("#shown")?.dataset.subject && change.version > Number($("#shown").dataset.version);

  const waiting = new Set();
  let timer = 0;
  document.addEventListener("vigente:changed", (event) => {
    cards(event.detail.subject).filter((card) => !byItself(card, event.detail)).forEach((card) => waiting.add(card));
    clearTimeout(timer);
    timer = setTimeout(() => {
      const found = [...waiting].filter((card) => card.isConnected);
      waiting.clear();
      found.forEach(renew);
    }, 150);
  });

  // Many at once.
  const boxes = () => $$("input[name=pick]");
  const all = $("[data-all]");
  if (all) {
    all.hidden = false;
    $("input", all).addEventListener("change", (event) => { boxes().forEach((box) => { box.checked = event.target.checked; }); });
  }
}
