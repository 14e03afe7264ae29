view => [...document.querySelectorAll(`[data-view=${view}] text`)]
    .filter(node => node.getAttribute("font-weight") === "bold" && node.textContent)
    .map(node => node.textContent)
