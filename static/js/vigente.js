// Placeholder until the keys and the palette come: closing notes.
"use strict";
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-close]");
  if (button) button.closest(button.dataset.close)?.remove();
});
