"""What a figure shows, read from its axes."""


def draw_figure(ax):
    """Draw the figure, so that ticks and places are settled, and return the axes."""
    ax.figure.canvas.draw()
    return ax


def label_texts(things) -> list[str]:
    """Return the words of labels, ticks or names."""
    return [thing.get_text() for thing in things]


def legend_texts(ax) -> list[str]:
    """Return the entries of the legend."""
    return label_texts(ax.get_legend().get_texts())
