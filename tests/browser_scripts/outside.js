() => {
    const page = Reveal.getCurrentSlide().getBoundingClientRect();
    const parts = "h1, h2, p, li, td, th, img, figcaption, mjx-container";
    return [...Reveal.getCurrentSlide().querySelectorAll(parts)].filter(part => {
        const box = part.getBoundingClientRect();
        return !part.closest("aside") && box.width > 0
            && (box.bottom > page.bottom + 1 || box.right > page.right + 1);
    }).map(part => part.textContent.slice(0, 60));
}
