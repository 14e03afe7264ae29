view => [...document.querySelectorAll(`[data-view=${view}] [aria-label]`)]
    .filter(node => node.tagName === "path" && node.ariaLabel.includes("\n"))
    .map(node => ({name: node.ariaLabel.split("\n")[0], said: node.ariaLabel,
        x: node.getBoundingClientRect().x, y: node.getBoundingClientRect().y,
        stroke: node.getAttribute("stroke"), opacity: Number(node.getAttribute("opacity"))}))
