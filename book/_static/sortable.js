/* Tables of class "sortable": each heading becomes a button that sorts the rows, up, then down.
   A cell counts as the number that it begins with (so "0.41 [0.39, 0.43]" is 0.41), else as text.
   Cells without a value ("–" or nothing) stay at the foot. */
(() => {
  "use strict";

  const value = (row, column) => {
    const text = (row.cells[column]?.textContent ?? "").trim();
    if (!text || text === "–" || text.startsWith("nan")) return null;
    const number = Number.parseFloat(text.replace(/^−/, "-").replace(/,(?=\d{3})/g, ""));
    return Number.isNaN(number) ? text : number;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });

  const sort = (table, column, up) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: value(row, column) }));
    rows.sort((one, two) => {
      if (one.key === null || two.key === null) return (one.key === null) - (two.key === null);
      return up ? compare(one.key, two.key) : compare(two.key, one.key);
    });
    body.append(...rows.map(({ row }) => row));
  };

  const prepare = (table) => {
    const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.title = "Sort by this column";
      heading.append(button);
      button.addEventListener("click", () => {
        const up = heading.getAttribute("aria-sort") !== "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table, column, up);
      });
    });
  };

  const start = () =>
    document.querySelectorAll("table.sortable").forEach((table) => {
      if (table.tHead && table.tBodies.length === 1) prepare(table);
    });

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
