// Where a chapter's findings and its first figure begin, and the first fold of code.
() => Object.fromEntries([["finding", ".finding"], ["figure", "figure img"],
    ["code", ".cell details, .cell_input"]].map(([name, selector]) => {
    const shown = [...document.querySelectorAll("article " + selector)].filter(node =>
        node.checkVisibility());
    return [name, shown.length ? shown[0].getBoundingClientRect().top + scrollY : Infinity];
}))
