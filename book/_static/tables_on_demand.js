/* The library of the sortable tables (1 MB) is fetched when the first of them comes near the window.
   Each table's own script waits for `window[name]`, which is promised here and kept by the library. */
(function () {
  const { name, library } = document.currentScript.dataset;
  let keep;
  window[name] = new Promise((resolve) => { keep = resolve; });
  window.keepTables = (module) => { module.then(keep); };
  function fetchLibrary() {
    if (fetchLibrary.done) return;
    fetchLibrary.done = true;
    const script = document.createElement("script");
    script.src = library;
    document.head.append(script);
  }
  addEventListener("beforeprint", fetchLibrary);
  addEventListener("DOMContentLoaded", () => {
    const near = new IntersectionObserver(
      (seen) => { if (seen.some((each) => each.isIntersecting)) { near.disconnect(); fetchLibrary(); } },
      { rootMargin: "800px" },
    );
    for (const table of document.querySelectorAll("table[id^=itables_]")) near.observe(table.parentElement);
  });
})();
