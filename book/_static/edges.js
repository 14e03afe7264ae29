/* What is wider than its place scrolls there, and shows by a shadow at which edge it goes on. */
(() => {
  "use strict";

  const PLACES =
    ".bd-content :is(.cell_output .text_html, .table-container, .pst-scrollable-table-container, " +
    "div.math, .dt-scroll-body)";

  const look = (place) => {
    const rest = place.scrollWidth - place.clientWidth - place.scrollLeft;
    place.toggleAttribute("data-more-left", place.scrollLeft > 1);
    place.toggleAttribute("data-more-right", rest > 1);
    place.style.setProperty("--scrolled", `${place.scrollLeft}px`);
  };

  const start = () => {
    // also when a fold opens, a formula has been set or a picture has come
    const sizes = new ResizeObserver((changes) =>
      changes.forEach(({ target }) => look(target.closest(PLACES))),
    );
    document.querySelectorAll(PLACES).forEach((place) => {
      [place, ...place.children].forEach((element) => sizes.observe(element));
      place.addEventListener("scroll", () => look(place), { passive: true });
    });
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
