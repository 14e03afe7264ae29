() => Math.min(9, ...[...Reveal.getCurrentSlide().querySelectorAll("img")].map(
    part => Math.min(part.clientWidth / part.naturalWidth,
                     part.clientHeight / part.naturalHeight)))
