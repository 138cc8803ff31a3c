"use strict";
const buttons = [...document.querySelectorAll(".filters button")];
for (const button of buttons) {
  button.addEventListener("click", () => {
    document.body.dataset.show = button.dataset.show;
    for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
  });
}
const search = document.querySelector(".filters input");
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  for (const row of document.querySelectorAll("tbody tr")) {
    row.classList.toggle("unmatched", wanted !== "" && !row.textContent.toLowerCase().includes(wanted));
  }
});
