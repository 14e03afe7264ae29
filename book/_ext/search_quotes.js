/* Search results quote pages: a formula in the text in letters, one on a line of its own not at all. */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const plain = (latex) =>
    latex
      .replace(/^\\\(|\\\)$/g, "")
      .replace(/\\[a-zA-Z]+\s*(?=\{)/g, "")
      .replace(/\\([a-zA-Z]+)/g, " $1 ")
      .replace(/[\\{}^_]/g, "")
      .replace(/\s+/g, " ")
      .trim();
  const htmlToText = Search.htmlToText;
  Search.htmlToText = (text, anchor) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    page.querySelectorAll("nav, #jb-print-docs-body").forEach((part) => part.remove());
    page.querySelectorAll("div.math").forEach((formula) => formula.replaceChildren(" … "));
    page.querySelectorAll(".math").forEach((f) => f.replaceChildren(plain(f.textContent)));
    return htmlToText(page.documentElement.outerHTML, anchor);
  };
});
