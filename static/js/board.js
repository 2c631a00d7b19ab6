// The board: moving cards by mouse, keys and menu, and showing what others moved.
// The page works without any of this (each card's menu is a link to a plain form). What a card may do is decided by the
// server; here a card is only held, sent with the version it was taken at, and put where the answer says.
"use strict";
(() => {
  const QUIET = 300; // ms in which changes by others are gathered into one question
  const MANY = 20; // of more at once, the whole board is asked for again
  const FRESH = 20000; // ms that a change by somebody else stays marked

  let held = null; // { card, home, over, version }: taken, not yet put down
  let menu = null; // the card whose menu is open
  const sent = new Set(); // keys of deals whose move is on its way
  const waiting = new Map(); // key of a deal that changed -> version
  let timer = 0;

  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const board = () => one(".board");
  const query = () => one("#board-region").dataset.query;
  const columnOf = (card) => card.closest(".column");
  const column = (stage) => one(`.column[data-stage="${stage}"]`);
  const cardOf = (pk) => document.getElementById(`deal-${pk}`);
  const title = (card) => one("h3", card).textContent.trim();
  const word = (name, facts) => Object.entries(facts).reduce((text, [k, v]) => text.replaceAll(`{${k}}`, v), board().dataset[name]);
  const tell = (text) => { one("#board-told").textContent = text; };
  const key = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  /** Cards that must not change under the hand: held, on their way, or asking something. */
  const busy = (pk) => sent.has(pk) || held?.card.dataset.deal === pk || menu?.dataset.deal === pk || cardOf(pk)?.hasAttribute("data-back");
  const shows = (pk, version) => Number(cardOf(pk)?.dataset.version ?? 0) >= Number(version);

  // ------------------------------------------------------------------------------------------ holding a card

  function take(card) {
    held = { card, home: columnOf(card), over: columnOf(card), version: card.dataset.version };
  }

  function over(target) {
    if (!held || !target || held.over === target) return;
    held.over = target;
    one(".board .drop")?.remove();
    if (target !== held.home) {
      const place = document.createElement("li");
      place.className = "drop";
      place.textContent = target.dataset.name;
      one("ol", target).prepend(place);
      (place.scrollIntoViewIfNeeded ?? place.scrollIntoView).call(place);
    }
    tell(word("wOver", { stage: target.dataset.name }));
  }

  function release() {
    const was = held;
    held = null;
    was?.card.removeAttribute("data-held");
    one(".board .drop")?.remove();
    later();
    return was;
  }

  function putBack() {
    const was = release();
    if (was) tell(word("wHome", { deal: title(was.card), stage: was.home.dataset.name }));
  }

  async function put() {
    const { card, home, over: target, version } = held;
    if (target === home) return putBack();
    await move(card, target, version, release);
  }

  async function move(card, target, version, done) {
    let reason = "";
    if (target.dataset.kind === "lost") {
      reason = await askReason(card);
      if (!reason) { done(); return; }
    }
    done();
    const data = new FormData();
    for (const [name, value] of Object.entries({ deal: card.dataset.deal, stage: target.dataset.stage, version, key: key(), reason })) data.set(name, value);
    const marker = document.createElement("li");
    marker.hidden = true;
    marker.dataset.homeOf = card.dataset.deal;
    const focused = card.contains(document.activeElement);
    card.replaceWith(marker);
    one("ol", target).prepend(card);
    if (focused) one("h3 a", card).focus();
    await post(card, board().dataset.move, data);
  }

  document.addEventListener("click", (event) => { if (event.target.closest?.("#lost [data-keep]")) one("#lost").close(""); });

  function askReason(card) {
    const dialog = one("#lost");
    const field = one("#lost-reason");
    one("#lost-title").textContent = word("wLost", { deal: title(card) });
    field.value = "";
    dialog.returnValue = "";
    dialog.showModal();
    field.focus();
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "lost" ? field.value.trim() : ""), { once: true });
    });
  }

  // ------------------------------------------------------------------------------------------ asking the server

  async function ask(url, options = {}) {
    const address = new URL(url, location.href);
    for (const [name, value] of new URLSearchParams(query())) if (!address.searchParams.has(name)) address.searchParams.set(name, value);
    const response = await fetch(address, { ...options, headers: { "HX-Request": "true", "HX-Current-URL": location.href }, credentials: "same-origin" });
    const away = response.headers.get("HX-Redirect");
    if (away) location.assign(away);
    const answer = document.createElement("template");
    answer.innerHTML = await response.text();
    return answer.content;
  }

  async function post(card, url, data) {
    const pk = card.dataset.deal;
    sent.add(pk);
    card.setAttribute("aria-busy", "true");
    const { token, who } = window.vigente.sending();
    data.set("csrfmiddlewaretoken", token || one("#moves [name=csrfmiddlewaretoken]").value);
    data.set("opened_by", who);
    try {
      const answer = await ask(url, { method: "POST", body: data });
      if (one("[data-changed]", answer)) place(answer, [pk]);
      else { home(card); one("#toasts").append(answer); }
    } catch {
      home(card);
      one("#toasts").append(one("#w-unsaved").content.cloneNode(true));
    }
    card.removeAttribute("aria-busy");
    sent.delete(pk);
    one(`[data-home-of="${pk}"]`)?.remove();
    later();
  }

  function home(card) {
    one(`[data-home-of="${card.dataset.deal}"]`)?.replaceWith(card);
  }

  /** Put what the server answered where it belongs. `asked`: deals that are out of sight if they are not in the answer. */
  function place(answer, asked) {
    const come = new Map(all("[data-changed] > li", answer).map((card) => [card.dataset.deal, card]));
    for (const pk of asked) {
      const old = cardOf(pk);
      const card = come.get(pk);
      if (!card) { old?.remove(); continue; }
      const target = column(card.dataset.stage);
      const focused = old?.contains(document.activeElement);
      const left = one(`[data-home-of="${pk}"]`);
      if (!target) { old?.remove(); continue; }
      if (old && columnOf(old) === target) old.replaceWith(card);
      else {
        old?.remove();
        if (left && left.closest(".column") === target) left.replaceWith(card);
        else one("ol", target).prepend(card);
      }
      htmx.process(card);
      if (focused) one("h3 a", card).focus();
      if (card.hasAttribute("data-fresh")) {
        tell(`${title(card)}: ${one(".just", card).textContent.trim()}`);
        setTimeout(() => { card.removeAttribute("data-fresh"); one(".just", card)?.remove(); }, FRESH);
      }
    }
    for (const part of all("[data-replace] > [id]", answer)) {
      const old = document.getElementById(part.id);
      if (old && !old.contains(document.activeElement)) { old.replaceWith(part); htmx.process(part); }
    }
    for (const toast of all("[data-toasts] > *", answer)) { one("#toasts").append(toast); htmx.process(toast); }
  }

  // ------------------------------------------------------------------------------------------ changes by others

  function later() {
    if (!timer && [...waiting.keys()].some((pk) => !busy(pk))) timer = setTimeout(refresh, QUIET);
  }

  async function refresh() {
    timer = 0;
    for (const [pk, version] of waiting) if (shows(pk, version)) waiting.delete(pk);
    const asked = [...waiting.keys()].filter((pk) => !busy(pk));
    if (!asked.length) return;
    if (asked.length > MANY && !held && !menu) return whole();
    const shown = asked.map((pk) => (cardOf(pk) ? `${pk}.${cardOf(pk).dataset.stage}` : pk));
    for (const pk of asked) waiting.delete(pk);
    try {
      const answer = await ask(`${board().dataset.cards}?deals=${shown.join(",")}`);
      if (one("[data-changed]", answer)) place(answer, asked.filter((pk) => !busy(pk)));
    } catch {
      // The live bar says that the page may be out of date; the next change asks again.
    }
    later();
  }

  function whole() {
    waiting.clear();
    htmx.ajax("GET", `${location.pathname}?${query()}`, { target: "#board-region", swap: "outerHTML" });
  }

  // After an undo the page is asked to bring itself up to date, whether or not the stream is there to tell it.
  document.addEventListener("vigente:refresh", () => { if (board() && !held && !menu && !sent.size) whole(); });

  document.addEventListener("vigente:changed", (event) => {
    const [label, pk] = String(event.detail.subject).split(":");
    if (label !== "crm.opportunity" || !board()) return;
    if (shows(pk, event.detail.version)) return;
    waiting.set(pk, event.detail.version);
    later();
  });

  // ------------------------------------------------------------------------------------------ mouse

  document.addEventListener("dragstart", (event) => {
    const card = event.target.closest?.(".card.deal[draggable]");
    if (!card || sent.has(card.dataset.deal)) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", title(card));
    take(card);
    requestAnimationFrame(() => card.setAttribute("data-held", ""));
  });
  document.addEventListener("dragover", (event) => {
    const target = held && event.target.closest?.(".column");
    if (!target) return;
    event.preventDefault();
    over(target);
  });
  document.addEventListener("drop", (event) => {
    if (!held || !event.target.closest?.(".column")) return;
    event.preventDefault();
    put();
  });
  document.addEventListener("dragend", () => { if (held && !one("#lost").open) putBack(); });

  // ------------------------------------------------------------------------------------------ keys

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]") || event.target.closest?.("input, textarea, select")) return;
    if (!held) {
      const card = event.target.closest?.(".card.deal[draggable]");
      if (event.key.toLowerCase() !== "m" || !card || sent.has(card.dataset.deal)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      take(card);
      card.setAttribute("data-held", "");
      tell(word("wHeld", { deal: title(card) }));
      return;
    }
    const columns = all(".board .column");
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step && !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Escape") putBack();
    else if (event.key === "Enter") put();
    else over(columns[columns.indexOf(held.over) + step]);
  }, true);

  // ------------------------------------------------------------------------------------------ menu, and the note on a card

  document.addEventListener("click", (event) => {
    const opener = event.target.closest?.(".card.deal .menu");
    if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const moves = one("#moves");
    menu = opener.closest(".card");
    moves.elements.deal.value = menu.dataset.deal;
    moves.elements.version.value = menu.dataset.version;
    moves.elements.key.value = key();
    for (const button of all("[name=stage]", moves)) button.hidden = button.value === menu.dataset.stage;
    one("[data-open]", moves).href = one("h3 a", menu).href;
    moves.showPopover({ source: opener });
    one("[role=menuitem]:not([hidden])", moves).focus();
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.id !== "moves" || event.newState !== "closed") return;
    menu = null;
    later();
  }, true);
  document.addEventListener("keydown", (event) => {
    const item = event.target.closest?.("#moves [role=menuitem]");
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!item || !step) return;
    event.preventDefault();
    const items = all("[role=menuitem]:not([hidden])", one("#moves"));
    items[(items.indexOf(item) + step + items.length) % items.length].focus();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.id === "moves") {
      event.preventDefault();
      const card = cardOf(form.elements.deal.value);
      const version = form.elements.version.value;
      form.hidePopover();
      if (card) move(card, column(event.submitter.value), version, () => {});
    } else if (form.closest(".card.deal .note")) {
      event.preventDefault();
      const card = form.closest(".card.deal");
      const to = event.submitter.getAttribute("formaction") ?? form.getAttribute("action");
      if (!sent.has(card.dataset.deal)) post(card, to, new FormData(form, event.submitter));
    }
  });

  // ------------------------------------------------------------------------------------------ filters

  let tab = "";
  document.addEventListener("change", (event) => { if (event.target.name === "tab") tab = event.target.value; });
  document.addEventListener("htmx:load", (event) => {
    const region = event.detail.elt;
    if (region.id !== "board-region") return;
    held = null;
    const chosen = tab && one(`[name=tab][value="${tab}"]`, region);
    if (chosen) chosen.checked = true;
    const owner = one("#board-owner");
    if (owner) owner.value = region.dataset.owner;
  });
})();
