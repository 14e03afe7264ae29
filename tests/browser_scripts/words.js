() => {
    const page = Reveal.getCurrentSlide().querySelector(".page").cloneNode(true);
    page.querySelectorAll("aside").forEach(part => part.remove());
    page.querySelectorAll("mjx-container").forEach(part => part.replaceWith(" x "));
    return page.textContent.split(/\s+/).filter(word => word).length;
}
