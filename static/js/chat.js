// The visitor's side of the web chat. A line has a number of its own from the moment it is typed: it is sent again under
// that number until the server has it, and is stored once. Everything is shown as text.
"use strict";

{
  const chat = document.getElementById("chat");
  const list = document.getElementById("lines");
  const form = chat.querySelector("form");
  const field = form.elements.text;
  const writing = document.getElementById("writing");
  const state = document.getElementById("state");
  const error = document.getElementById("error");
  const words = document.getElementById("words").dataset;

  // ---- who we are: the token that this browser kept, else the page's own

  const place = `vigente-chat:${chat.dataset.slug}`;
  let token = chat.dataset.token;
  try { token = localStorage.getItem(place) || token; } catch { /* no storage in this frame: a visit is a page's life */ }
  const keep = () => { try { localStorage.setItem(place, token); } catch { /* as above */ } };
  const forget = () => { try { localStorage.removeItem(place); } catch { /* as above */ } token = chat.dataset.token; };
  const ask = (url, options = {}) => fetch(url, { ...options, headers: { "X-Chat-Token": token, ...options.headers } });

  // ---- the thread

  const shown = new Map(); // line number or key -> element
  let last = 0;
  const atEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const put = ({ id, line, ours, text, who }) => {
    const known = shown.get(`k${id}`) ?? (line ? shown.get(line) : undefined);
    if (known) { settle(known); shown.set(`k${id}`, known); return; }
    const follow = atEnd();
    const item = document.createElement("li");
    item.dataset.from = ours ? "us" : "you";
    if (who) { const name = item.appendChild(document.createElement("b")); name.dir = "auto"; name.textContent = who; }
    const said = item.appendChild(document.createElement("p"));
    said.dir = "auto";
    said.textContent = text;
    list.append(item);
    if (id) shown.set(`k${id}`, item);
    if (line) shown.set(line, item);
    if (follow) list.scrollTop = list.scrollHeight;
    return item;
  };
  const settle = (item) => { item.querySelector("small")?.remove(); };
  const mark = (item, text, again) => {
    settle(item);
    const note = item.appendChild(document.createElement("small"));
    note.textContent = text;
    if (again) {
      note.append(" ");
      const button = note.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = words.again;
      button.addEventListener("click", again);
    }
  };

  let loading = null;
  let closed = false;
  let more = false;
  const load = () => {
    if (loading) { more = true; return loading; }
    loading = (async () => {
      const answer = await ask(`${chat.dataset.thread}?after=${last}`);
      if (answer.status === 403) { forget(); return; }
      if (answer.status === 404) { closed = true; tell((await answer.json()).error); return; }
      if (!answer.ok) return;
      if (closed) { closed = false; tell(""); } // switched on again
      const body = await answer.json();
      for (const line of body.lines) put(line);
      last = body.through;
      writing.hidden = !body.writing;
      if (state.textContent !== body.state) state.textContent = body.state;
      state.hidden = !body.state;
      if (body.writing && atEnd()) list.scrollTop = list.scrollHeight;
      if (body.lines.length && !stream) listen();
    })().catch(() => {}).finally(() => { loading = null; if (more) { more = false; load(); } });
    return loading;
  };

  // ---- sending: one after the other, so that lines arrive in the order in which they were typed

  let queue = Promise.resolve();
  const say = (text) => {
    const line = (crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`).replaceAll("-", "").slice(0, 40);
    const item = put({ line, ours: false, text });
    mark(item, words.pending);
    list.scrollTop = list.scrollHeight;
    queue = queue.then(() => deliver(item, line, text));
  };
  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const deliver = async (item, line, text) => {
    for (let wait = 500; ; wait = Math.min(wait * 2, 15_000)) {
      try {
        const answer = await ask(chat.dataset.say, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ line, text }) });
        if (answer.ok) { keep(); settle(item); tell(""); load(); return; }
        const body = await answer.json().catch(() => ({}));
        if (answer.status < 500) {
          tell(body.error ?? "");
          mark(item, words.failed, () => { mark(item, words.pending); queue = queue.then(() => deliver(item, line, text)); });
          return;
        }
      } catch { tell(words.away); }
      await pause(wait);
    }
  };
  const tell = (text) => { error.textContent = text; error.hidden = !text; };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    field.value = "";
    say(text);
    field.focus();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
  });
  let signed = 0;
  field.addEventListener("input", () => {
    if (Date.now() - signed < 3_000 || !last) return;
    signed = Date.now();
    ask(chat.dataset.typing, { method: "POST" }).catch(() => {});
  });

  // ---- news: a stream that says "look", and a look now and then where it is cut

  let stream = null;
  const listen = async () => {
    stream = new AbortController();
    try {
      const answer = await ask(chat.dataset.stream, { signal: stream.signal });
      if (answer.ok && answer.status !== 204) {
        const reader = answer.body.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          if (new TextDecoder().decode(value).includes("data:")) load();
        }
      }
    } catch { /* cut: the look below goes on, and it is opened again */ }
    await pause(2_000);
    stream = null;
    load();
  };
  setInterval(() => { if (last && !document.hidden) load(); }, 3_000);
  load();
}
