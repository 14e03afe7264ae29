// Colours are compared on one of the elements that are styled alike: same path of tags and classes,
// same computed colours, sizes and kind of text. What was found good on one page, at one width or in
// one theme is not compared again on others. All other rules see the whole page.
async ([rules, good]) => {
    const marks = new Map(), seen = new Set(good);
    const mark = e => {
        if (!marks.has(e)) {
            const s = getComputedStyle(e);
            const names = e.getAttribute("class")?.replace(/\d+/g, "");  // no numbers of cells
            const look = [e.tagName, names, s.color, s.backgroundColor,
                s.backgroundImage, s.opacity, s.fontSize, s.fontWeight, s.textShadow].join("|");
            let [a, b] = e === document.documentElement ? [0, 1] : mark(e.parentElement);
            for (let i = 0; i < look.length; i++) {
                a = Math.imul(a ^ look.charCodeAt(i), 2654435761);
                b = Math.imul(b ^ look.charCodeAt(i), 1597334677);
            }
            marks.set(e, [a ^ a >>> 15, b ^ b >>> 13]);
        }
        return marks.get(e);
    };
    for (const e of document.body.querySelectorAll("*")) {
        const text = [...e.childNodes].map(n => n.nodeType === 3 ? n.data.trim() : "").join("");
        const kind = [text.length > 1, /[\p{L}\p{N}]/u.test(text)];
        const name = e.checkVisibility() ? [...mark(e), ...kind].join() : "";
        e.toggleAttribute("data-once", name && !seen.has(name));
        e.dataset.alike = name;
        seen.add(name);
    }
    axe.configure({rules: [{id: "color-contrast", selector: "[data-once]"}]});
    axe.addReporter("bare", (found, options, done) => done(found));  // elements as they are
    const found = await axe.run(document,
        {reporter: "bare", ...(rules && {runOnly: [...rules, "color-contrast"]})});
    const serious = found.filter(rule => ["serious", "critical"].includes(rule.impact))
        .flatMap(rule => rule.violations.slice(0, 3).map(v =>
            `${rule.id}: ${v.node.element.outerHTML.slice(0, 100)}`));
    const colours = found.find(rule => rule.id === "color-contrast");
    return [serious, colours.passes.map(fine => fine.node.element.dataset.alike)];
}
