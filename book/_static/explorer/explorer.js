/* The explorer of published models: draws its views when it comes near, and wires the controls.

   The views are whole in Vega-Lite; here their parameters are set, and what no view can say is
   computed: how many models are shown, and the correlation of these. Names reach the page as text
   only. Without this script the figure, the table and the link stay as they are. */
(() => {
  "use strict";

  const HERE = document.currentScript.src;
  const NEAR = "800px";
  const FEWEST = 6; // models; a correlation of fewer is not given
  const WIDE = 600; // pixels; where less, one benchmark at first
  const HINT = "Choose a model, or click a point, bar, cell or name, to see it in every view.";
  const LIBRARIES = ["../../vega/vega.min.js", "../../vega/vega-lite.min.js"];

  let loaded; // one promise, however many explorers a page has
  const libraries = () =>
    (loaded ??= LIBRARIES.reduce(
      (before, name) => before.then(() => load(new URL(name, HERE))),
      Promise.resolve(),
    ));

  const load = (address) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });

  /* ---- statistics ---- */

  const sum = (values) => values.reduce((total, value) => total + value, 0);

  /** Return ranks from 1, equal values sharing the mean of theirs. */
  const ranks = (values) =>
    values.map((value) => {
      const below = values.filter((other) => other < value).length;
      return below + (values.filter((other) => other === value).length + 1) / 2;
    });

  const spearman = (pairs) => {
    const [a, b] = [0, 1].map((side) => {
      const found = ranks(pairs.map((pair) => pair[side]));
      const mean = sum(found) / found.length;
      return found.map((rank) => rank - mean);
    });
    const product = (one, two) => sum(one.map((value, place) => value * two[place]));
    return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
  };

  const written = (rho) => rho.toFixed(2).replace("-", "−");

  /** Say between what a correlation lies without each family, where enough models remain. */
  const without = (rows, pair) => {
    const left = [...new Set(rows.map((row) => row.family))]
      .map((name) => rows.filter((row) => row.family !== name))
      .filter((rest) => rest.length >= FEWEST)
      .map((rest) => spearman(rest.map(pair)))
      .filter((rho) => !Number.isNaN(rho));
    if (!left.length) return "";
    return `; without one family, ${written(Math.min(...left))} to ${written(Math.max(...left))}`;
  };

  /* ---- what is shown at the pointer ---- */

  let bubble;
  const tooltip = (_, event, item, value) => {
    if (!bubble) {
      bubble = document.createElement("div");
      bubble.className = "explorer-tooltip";
      bubble.setAttribute("role", "tooltip");
      document.body.append(bubble);
    }
    bubble.hidden = !value;
    if (!value) return;
    bubble.textContent = value;
    const { offsetWidth: width, offsetHeight: height } = bubble;
    const { clientWidth, clientHeight } = document.documentElement;
    const beside = (at, size, all) => (at + 14 + size > all ? at - 14 - size : at + 14);
    const left = beside(event.clientX, width, clientWidth);
    bubble.style.left = `${Math.max(4, Math.min(left, clientWidth - width - 4))}px`;
    bubble.style.top = `${Math.max(4, beside(event.clientY, height, clientHeight))}px`;
  };

  /** Add names beside the points where there is room: Vega can, Vega-Lite has no word for it. */
  const named = (spec) => {
    const chosen = "datum.datum.model === chosen";
    spec.marks.push({
      type: "text",
      name: "names",
      from: { data: spec.marks.find((mark) => mark.name.startsWith("points_")).name },
      interactive: false,
      aria: false, // its points say their names
      encode: {
        update: {
          text: { signal: "datum.datum.run ? '' : datum.datum.model" },
          font: { value: "system-ui, sans-serif" },
          fontSize: { value: 11 },
          fontWeight: { signal: `${chosen} ? "bold" : "normal"` },
          fill: { value: "var(--pst-color-text-base, #222)" },
          fillOpacity: { signal: `chosen === "" || ${chosen} ? 1 : 0.6` },
        },
      },
      transform: [
        {
          type: "label",
          size: { signal: "[max(width, 1), height]" }, // no width before the first layout
          sort: { field: "datum.datum.first", order: "descending" },
          anchor: ["right", "left", "top", "bottom"].concat(
            ["top-right", "bottom-right", "top-left", "bottom-left"],
          ),
          offset: [3],
        },
      ],
    });
    return spec;
  };

  /* ---- one explorer ---- */

  const start = async (root) => {
    await libraries();
    const { state, data, views } = JSON.parse(root.querySelector("script").textContent);
    root.querySelector("script").after(root.querySelector("template").content);
    const find = (selector) => root.querySelector(selector);
    const form = find(".explorer-controls");
    const control = form.elements;
    const benchmark = find("[name=benchmark]");
    const papers = data.models.filter((row) => !row.run);
    const own = data.models.filter((row) => row.run);
    const { columns } = state;
    const drawn = {};
    const logger = vega.logger(vega.Error); // it warns of heights that follow from rows

    const draw = async (name) => {
      const place = find(`[data-view=${name}] .explorer-drawing`);
      const spec = vegaLite.compile({ ...views[name], datasets: data }, { logger }).spec;
      for (const mark of spec.marks) mark.description = name; // marks without items have no words
      const parsed = vega.parse(name === "scatter" ? named(spec) : spec);
      const view = new vega.View(parsed, { renderer: "svg", container: place, hover: true });
      view.tooltip(tooltip);
      view.addEventListener("click", (_, item) => {
        const model = item?.datum?.model ?? item?.datum?.value;
        if (!data.models.some((row) => row.model === model)) return;
        choose(model === state.chosen ? "" : model);
      });
      place.__view = drawn[name] = view;
      await view.runAsync();
      const resize = () => place.clientWidth && view.width(place.clientWidth).runAsync();
      new ResizeObserver(resize).observe(place);
    };

    const choose = (model) => {
      const place = data.models.findIndex((row) => row.model === model);
      control.model.value = place < 0 ? "" : place;
      update();
    };

    const kept = () => {
      const families = [...form.querySelectorAll("[name=family]:checked")].map((box) => box.value);
      const { least, most } = control;
      const all = least.selectedIndex === 0 && most.selectedIndex === most.length - 1;
      const [from, to] = [+least.value, +most.value].sort((a, b) => a - b);
      return papers.filter(
        (row) =>
          families.includes(row.family) &&
          (control.kind.value === "" || row.kind === control.kind.value) &&
          (row.billion === null ? all : row.billion >= from && row.billion <= to),
      );
    };

    /** Whether a view has a model. */
    const holds = {
      scatter: (row) => row?.[state.x] !== undefined && row[state.y] !== undefined,
      ranking: (row) => row?.[state.x] !== undefined,
      relations: (row) => data.relations.some((cell) => cell.model === row?.model),
      changes: (row) => data.changes.some((part) => part.model === row?.model),
    };

    /** Say what the scatter shows; return why it shows nothing, if so. */
    const count = (rows) => {
      const { x, y, names } = state;
      const has = holds.scatter;
      const [both, all] = [rows.filter(has), papers.filter(has)];
      const pair = (row) => [row[x], row[y]];
      const rho = spearman(both.map(pair));
      const correlation =
        x === y
          ? "both axes show the same measure: no correlation"
          : both.length < FEWEST
            ? "fewer than six models: no correlation"
            : Number.isNaN(rho)
              ? "all are equal in one of the two: no correlation"
              : `Spearman’s ρ of those shown is ${written(rho)}${without(both, pair)}`;
      find(".explorer-count").textContent =
        `${both.length} of ${papers.length} models have both numbers and are shown; ` +
        `${correlation}.`;
      const having = (key) => papers.filter((row) => row[key] !== undefined).length;
      const said = (key) => `${having(key)} models have “${names[key]}”`;
      if (both.length || own.some(has)) return "";
      return all.length
        ? "No model that the filters leave has both numbers."
        : `No model has both numbers: ${said(x)}, ${said(y)}, and none is among both.`;
    };

    /** Return the highlighted model's two figures, each with its rank among those shown. */
    const figures = (row, rows) => {
      const told = [...new Set([state.x, state.y])].map((key) => {
        if (row[key] === undefined) return `${state.names[key]}: not printed`;
        const text = `${state.names[key]}: ${row[key].toFixed(3).replace("-", "−")}`;
        const others = rows.filter((other) => other[key] !== undefined);
        const sign = state.better[key] < 0 ? -1 : 1;
        const rank = 1 + others.filter((other) => sign * other[key] > sign * row[key]).length;
        return rows.includes(row) ? `${text} (rank ${rank} of ${others.length} shown)` : text;
      });
      return `${row.model} (${row.about}). ${told.join("; ")}.`;
    };

    const say = (name, reason) => {
      const view = find(`[data-view=${name}]`);
      if (!view) return;
      view.querySelector(".explorer-none").textContent = reason;
      view.querySelector(".explorer-none").hidden = !reason;
      view.querySelector(".explorer-drawing").hidden = Boolean(reason);
    };

    const update = async () => {
      const rows = kept();
      for (const option of control.y.options) {
        const shared = (row) => row[control.x.value] !== undefined && row[option.value] !== undefined;
        option.toggleAttribute("data-empty", !papers.some(shared));
      }
      const chosen = control.model.value === "" ? undefined : data.models[control.model.value];
      Object.assign(state, {
        x: control.x.value,
        y: control.y.value,
        benchmark: benchmark?.value ?? "",
        chosen: chosen?.model ?? "",
        shown: rows.map((row) => row.model),
      });
      const gone = papers.map((row) => row.model).filter((name) => !state.shown.includes(name));
      state.columns = columns.filter((name) => !gone.includes(name));
      const none = (name, reason) => say(name, [...rows, ...own].some(holds[name]) ? "" : reason);
      say("scatter", count(rows));
      none("ranking", "No model that the filters leave has this number.");
      none("relations", "MONITOR prints no relations of the models that the filters leave.");
      none("changes", "The study of multiplicity has none of the models that the filters leave.");
      find(".explorer-chosen").textContent = chosen ? figures(chosen, rows) : HINT;
      await Promise.all(
        Object.entries(drawn).map(([name, view]) => {
          for (const [key, value] of Object.entries(state)) view.signal(key, value);
          if (!holds[name](chosen)) view.signal("chosen", ""); // else all would be faint
          return view.runAsync();
        }),
      );
    };

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(update)); // after the controls have changed
    root.addEventListener("change", update);
    root.addEventListener("click", ({ target }) => {
      if (!["all", "none"].includes(target.name)) return;
      for (const box of form.querySelectorAll("[name=family]")) box.checked = target.name === "all";
      update();
    });
    root.classList.add("explorer-on");
    if (benchmark && root.clientWidth < WIDE) benchmark.selectedIndex = 1;
    await Promise.all(Object.keys(views).map(draw));
    await update();
    root.dataset.ready = "";
  };

  const observer = new IntersectionObserver(
    (entries) =>
      entries
        .filter((entry) => entry.isIntersecting)
        .forEach(({ target }) => {
          observer.unobserve(target);
          start(target).catch((error) => {
            target.classList.remove("explorer-on"); // the figure remains
            console.error(error);
          });
        }),
    { rootMargin: NEAR },
  );
  document.querySelectorAll(".explorer").forEach((root) => observer.observe(root));
})();
