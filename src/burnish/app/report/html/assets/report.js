"use strict";
document.documentElement.classList.add("live");

// Filters: a row is shown when its class is the pressed one and its text has the words.
for (const box of document.querySelectorAll(".filters")) {
  const rows = [...document.querySelectorAll(`#${box.dataset.for} > tbody > tr`)];
  const buttons = [...box.querySelectorAll("button")];
  const search = box.querySelector("input");
  const told = box.querySelector("[role=status]");
  let state = "";
  const apply = () => {
    const words = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = state === "" || row.classList.contains(state);
      row.hidden = !(fits && (words === "" || row.textContent.toLowerCase().includes(words)));
      if (!row.hidden) shown += 1;
    }
    told.textContent = state || words ? `${shown} of ${rows.length}` : "";
  };
  for (const button of buttons) {
    button.addEventListener("click", () => {
      state = button.dataset.show;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      apply();
    });
  }
  search.addEventListener("input", apply);
}

// A click on a column's head sorts by it, a second one the other way.
for (const table of document.querySelectorAll("#trials-table")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...table.tBodies[0].rows].map((row) => {
        const text = row.cells[column].textContent;
        const number = parseFloat(text.replaceAll(",", ""));
        return { row, text, number };
      });
      const order = (a, b) => {
        if (Number.isNaN(a.number) || Number.isNaN(b.number)) {
          const missing = Number.isNaN(a.number) - Number.isNaN(b.number);
          return missing || (down ? -1 : 1) * a.text.localeCompare(b.text);
        }
        return (down ? -1 : 1) * (a.number - b.number);
      };
      table.tBodies[0].append(...keyed.sort(order).map((one) => one.row));
    });
  });
}

// Charts name the mark under the pointer; a click leads to its row.
const points = JSON.parse(document.getElementById("report-data").textContent).points;
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
const words = (number) => {
  const row = document.getElementById(`c${number}`);
  if (!row) return `Trial ${number}`;
  const [, status, score, items, tokens, , , why] = [...row.cells].map((cell) => cell.textContent);
  return `Trial ${number}: ${score}, ${status}, ${items} items, ${tokens} tokens. ${why}`;
};
for (const [name, marks] of Object.entries(points)) {
  const chart = document.getElementById(name);
  if (!chart) continue;
  const title = chart.querySelector("title");
  chart.setAttribute("aria-label", title.textContent);
  chart.removeAttribute("aria-labelledby");
  chart.setAttribute("aria-describedby", chart.querySelector("desc").id);
  title.remove();
  const nearest = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    let found = null;
    let best = 14 * 14;
    for (const mark of marks) {
      const distance = (mark[0] - place.x) ** 2 + (mark[1] - place.y) ** 2;
      if (distance < best) [best, found] = [distance, mark];
    }
    return found;
  };
  chart.addEventListener("pointermove", (event) => {
    const mark = nearest(event);
    tip.hidden = mark === null;
    if (mark === null) return;
    tip.textContent = words(mark[2]);
    tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 14))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });
  chart.addEventListener("pointerleave", () => { tip.hidden = true; });
  chart.addEventListener("click", (event) => {
    const mark = nearest(event);
    if (mark !== null) location.hash = `c${mark[2]}`;
  });
}

// Paper has nothing to unfold.
const folded = [];
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) { folded.push(one); one.open = true; }
});
addEventListener("afterprint", () => { for (const one of folded.splice(0)) one.open = false; });
