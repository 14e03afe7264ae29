/* The library of the sortable tables (1 MB) is fetched when the first of them comes near the window;
   until then, and without JavaScript, their first rows stand there. Each table's own script waits
   for `window[name]`, which is promised here and kept by the library. */
(function () {
  const { name, library } = document.currentScript.dataset;
  const tables = () => document.querySelectorAll("table[id^=itables_]");
  let keep;
  window[name] = new Promise((resolve) => { keep = resolve; });
  window.keepTables = async (module) => {
    const ready = await module;
    for (const table of tables()) {
      table.hidden = false;
      document.getElementById(`${table.id}_fallback`)?.remove();
    }
    keep(ready);
  };
  addEventListener("DOMContentLoaded", () => {
    const near = new IntersectionObserver((seen) => {
      if (!seen.some((each) => each.isIntersecting)) return;
      near.disconnect();
      const script = document.createElement("script");
      script.src = library;
      document.head.append(script);
    }, { rootMargin: "600px" });
    for (const table of tables()) near.observe(table.parentElement);
  });
})();
