"use strict";
(() => {
  const tip = document.getElementById("tip");
  const place = (x, y) => {
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(x + 12, room)) + window.scrollX}px`;
    const below = y + 18 + tip.offsetHeight <= window.innerHeight;
    tip.style.top = `${window.scrollY + (below ? y + 18 : y - tip.offsetHeight - 10)}px`;
  };
  const hide = () => { tip.hidden = true; };
  for (const part of document.querySelectorAll(".tell")) {
    const title = part.querySelector("title");
    part.dataset.tell = title.textContent;
    title.remove();
    part.addEventListener("pointerenter", (event) => {
      tip.textContent = part.dataset.tell;
      tip.hidden = false;
      place(event.clientX, event.clientY);
    });
    part.addEventListener("pointermove", (event) => place(event.clientX, event.clientY));
    part.addEventListener("pointerleave", hide);
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  const said = document.getElementById("said");
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        said.textContent = "Copied.";
        button.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(button.previousElementSibling);
        window.getSelection().removeAllRanges();
        window.getSelection().addRange(range);
        said.textContent = "Selected; copy it with the keyboard.";
        button.textContent = "Selected";
      }
    });
  }
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
})();
