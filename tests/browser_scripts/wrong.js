// What is wrong with a page, each a list that has to be empty: formulas reach beyond what can be
// scrolled to, or into their own number; a search is offered in one way; a line that names authors.
() => {
    const all = selector => [...document.querySelectorAll(selector)];
    const said = nodes => nodes.map(node => node.outerHTML.slice(0, 200));
    const chapter = location.pathname.includes("/chapters/");
    const searches = all(".search-button, .search-button-field, form.bd-search:not(dialog *)")
        .filter(e => e.checkVisibility({opacityProperty: true, visibilityProperty: true})
            && e.getBoundingClientRect().width > 0);
    const levels = all("article :is(h1, h2, h3, h4, h5, h6)").filter(e => e.checkVisibility())
        .map(e => Number(e.tagName[1]));
    const cut = all("div.math").filter(box => {
        const formula = box.querySelector("mjx-math").getBoundingClientRect();
        const number = box.querySelector(".eqno")?.getBoundingClientRect();
        const outer = box.querySelector("mjx-container");
        const right = outer.scrollWidth + outer.offsetLeft - box.offsetLeft;
        const end = Math.max(box.scrollWidth, right);
        const over = Math.min(formula.right, outer.getBoundingClientRect().right) - 1;
        return box.checkVisibility() && formula.width > 0 && (
            formula.right - box.getBoundingClientRect().left > end + 2
            || number && number.left < over
                && number.top < formula.bottom - 1 && number.bottom > formula.top + 1);
    });
    const addresses = /colab.research.google.com|mybinder.org|\/(edit|blob)\/main\//;
    return {
        width: document.documentElement.scrollWidth > innerWidth ? [innerWidth] : [],
        searches: searches.length === 1 ? [] : said(searches).concat("not one"),
        words: said(all("article img").filter(img => img.alt.trim().length < (chapter ? 20 : 1)
            || img.alt.endsWith(".png"))),
        broken: all("img").filter(img => img.complete && !img.naturalWidth).map(img => img.src),
        unset: said(all("article .math").filter(box => !box.querySelector("mjx-container"))
            .concat(all("mjx-merror"))),
        cut: said(cut),
        headings: levels.filter((n, at) => n > (levels[at - 1] ?? 1) + 1)
            .concat(levels.filter(n => n === 1).length === 1 ? [] : ["not one title"]),
        repository: all("a[href]").map(a => a.href)
            .filter(to => addresses.test(to) && to.includes("notebooks")),
        authors: document.querySelector("footer.bd-footer-content").innerText.match(/^By /m) ?? [],
    };
}
