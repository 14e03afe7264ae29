// What the harmful strings would do: run, ask for a file, become an element, a link or a formula.
() => ({
    ran: window.hit !== undefined,
    elements: [...document.querySelectorAll(
        "[onerror], [onload], img[src='x'], img[src$='/x'], a[href^='javascript']")].length,
    formulas: [...document.querySelectorAll(".cell_output mjx-container")].length,
    scripts: [...document.scripts].filter(s => s.textContent.trim() === "hit=1").length,
})
