() => [...document.querySelectorAll(
    "pre, .nboutput > .output_area, .cell_output > .output, .jp-RenderedHTMLCommon, "
    + ".pst-scrollable-table-container")].every(e => (e.tabIndex === 0) ===
        (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight))
