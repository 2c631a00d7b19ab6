// For the site that embeds the chat: <script src="https://crm.example.org/static/js/chat-embed.js" data-chat="shop" async></script>
// Puts a button at the corner of the page; pressed, it shows the chat in a frame. Nothing else of the page is touched.
"use strict";

{
  const script = document.currentScript;
  const home = new URL(script.src).origin;
  const title = script.dataset.title || "Chat";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = title;
  button.setAttribute("aria-expanded", "false");
  const corner = { position: "fixed", insetInlineEnd: "16px", zIndex: "2147483000" };
  Object.assign(button.style, corner, { bottom: "16px", padding: "12px 20px", border: "0", borderRadius: "99px", background: "#2f4bb8", color: "#fff", font: "600 16px system-ui, sans-serif", cursor: "pointer" });
  let frame = null;
  const open = () => {
    frame = document.createElement("iframe");
    frame.src = `${home}/chat/${encodeURIComponent(script.dataset.chat)}/?embedded`;
    frame.title = title;
    Object.assign(frame.style, corner, { bottom: "76px", width: "min(380px, calc(100vw - 32px))", height: "min(560px, calc(100vh - 100px))", border: "1px solid #8888", borderRadius: "14px", background: "Canvas" });
    document.body.append(frame);
  };
  button.addEventListener("click", () => {
    if (!frame) open(); else frame.hidden = !frame.hidden;
    button.setAttribute("aria-expanded", String(!frame.hidden));
  });
  document.body.append(button);
}
