/* The part of a page in which the reader asks the model: button, form, and bars.

   Whatever a reader types, and whatever the data hold, reaches the page as text nodes only. Without
   this script the figure made with the book stays where the form would stand. */
(function (live) {
  "use strict";

  const SHOWN = 10; // bars, beside those that are marked
  const FLOOR = 1e-5; // an object that falls below on its way is not followed to its end
  const PAUSE = 150; // milliseconds without a key before the model is asked

  /* ---- pieces of a page ---- */

  let names = 0;
  const unique = (name) => `live-${name}-${(names += 1)}`;

  /** Make an element; children that are strings become text, never markup. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  function field(label, control, ...more) {
    control.id = unique("field");
    return make(
      "div",
      { class: "live-field" },
      make("label", { for: control.id }, label),
      control,
      ...more,
    );
  }

  function fillSelect(select, choices, chosen) {
    select.replaceChildren(
      ...choices.map(([value, text]) =>
        make("option", { value, selected: value === chosen }, text),
      ),
    );
  }

  function percent(probability) {
    if (probability < 0.0005) return "below 0.1 %";
    return `${(100 * probability).toFixed(1)} %`;
  }

  /* ---- one place in the page ---- */

  class Place {
    constructor(box) {
      this.box = box;
      this.told = JSON.parse(box.dataset.live);
      this.asked = { ...this.told.asked };
      this.typing = false; // whether a pause in the typing is awaited
      this.busy = false; // whether the model is at work
      this.still = [...box.children]; // the figure that stands here without us
      this.status = make("p", { role: "status", class: "live-status" });
      this.button = make(
        "button",
        { type: "button", class: "live-load", onclick: () => this.load() },
        `Ask ${this.told.model} yourself (loads ${this.told.megabytes} MB, once)`,
      );
      box.prepend(make("div", { class: "live-start" }, this.button, this.status));
    }

    async load() {
      this.button.disabled = true;
      this.status.textContent = `Loading ${this.told.model} …`;
      try {
        this.catalogue = await live.load(this.told.file);
      } catch (error) {
        this.status.textContent = `The model was not loaded: ${error.message} Try again, or use a newer browser.`;
        this.button.disabled = false;
        return;
      }
      this.build();
      this.still.forEach((element) => (element.hidden = true));
      this.button.parentElement.replaceWith(this.form, this.result);
      this.change();
      this.controls.subject.focus();
    }

    get relation() {
      return this.catalogue.relations.find(({ name }) => name === this.asked.relation);
    }

    get way() {
      return this.catalogue.ways.find(({ name }) => name === this.asked.way);
    }

    /** Make the controls, filled with what can be chosen. */
    makeControls() {
      const { catalogue } = this;
      const [subjects, objects] = [unique("subjects"), unique("objects")];
      const plain = { type: "text", maxlength: 200, autocomplete: "off", spellcheck: "false" };
      const text = (list) => make("input", { ...plain, list });
      this.subjects = make("datalist", { id: subjects });
      this.objects = make("datalist", { id: objects });
      this.controls = {
        relation: make("select"),
        subject: text(subjects),
        way: make("select"),
        frame: make("select"),
        context: text(objects),
        examples: make("input", { type: "number", min: 1, max: 50, step: 1 }),
        separator: make("select"),
      };
      const { controls } = this;
      fillSelect(
        controls.relation,
        catalogue.relations.map((r) => [r.name, `${r.label} (${r.name})`]),
        this.asked.relation,
      );
      fillSelect(
        controls.way,
        catalogue.ways.map((w) => [w.name, w.label]),
        this.asked.way,
      );
      fillSelect(
        controls.separator,
        catalogue.separators.map((s) => [s.name, s.name]),
        this.asked.separator,
      );
    }

    /** Make the form: a control and its label in each field, then what the model says. */
    build() {
      this.makeControls();
      const { catalogue, controls } = this;
      const press = (label, act) => make("button", { type: "button", onclick: act }, label);
      this.turn = press("", () => this.set({ turn: this.asked.turn + 1 }));
      this.fields = {
        relation: field("Relation", controls.relation),
        subject: field("Subject", controls.subject, this.subjects),
        another: make(
          "div",
          { class: "live-field" },
          press("Another subject", () => this.another()),
        ),
        way: field("Ask by", controls.way),
        frame: field("Wording", controls.frame),
        context: field("Text before the question (optional)", controls.context, this.objects),
        examples: field("Examples", controls.examples),
        separator: field("Written with", controls.separator),
        turn: make("div", { class: "live-field" }, this.turn),
      };
      this.form = make(
        "form",
        {
          class: "live-form",
          "aria-label": `Ask ${catalogue.model}`,
          onsubmit: (event) => event.preventDefault(),
        },
        ...Object.values(this.fields),
      );
      for (const [name, control] of Object.entries(controls))
        control.addEventListener("input", () => this.typed(name, control));
      this.buildResult();
      this.follow();
    }

    /** Make the empty places of what the model reads and says. */
    buildResult() {
      const reads = unique("reads");
      const named = { role: "group", "aria-labelledby": reads };
      this.read = make("pre", { class: "live-read", tabindex: "0", ...named });
      this.own = make("p", { class: "live-own" });
      this.caption = make("caption");
      this.rows = make("tbody");
      const head = ["Object", "Probability"].map((name) => make("th", { scope: "col" }, name));
      this.table = make(
        "table",
        { class: "live-bars" },
        this.caption,
        make("thead", {}, make("tr", {}, ...head)),
        this.rows,
      );
      this.result = make(
        "div",
        { class: "live-result" },
        make("p", { class: "live-head", id: reads }, "The model reads"),
        this.read,
        this.status,
        this.own,
        this.table,
      );
    }

    /** Bring the controls in line with what is asked. */
    follow() {
      const { controls, fields, relation, way, asked } = this;
      for (const name of ["relation", "subject", "way", "context", "examples", "separator"])
        if (controls[name].value !== String(asked[name])) controls[name].value = asked[name];
      const frames = relation.frames[way.kind] ?? [];
      const blank = (text) => text.replace("[X]", "…").replace(/ *\[Y\].*/, " …");
      fillSelect(
        controls.frame,
        frames.map((text, at) => [String(at), blank(text)]),
        String(asked.frame),
      );
      const options = (texts) => texts.map((value) => make("option", { value }));
      if (this.listed !== relation) {
        this.listed = relation;
        this.subjects.replaceChildren(...options(relation.facts.map(([name]) => name).sort()));
        this.objects.replaceChildren(...options(relation.objects));
      }
      fields.frame.hidden = frames.length === 0;
      fields.context.hidden = !way.context;
      fields.examples.hidden = fields.separator.hidden = way.name !== "list";
      fields.turn.hidden = way.name !== "list" && way.name !== "options";
      this.turn.textContent = way.name === "list" ? "Other examples" : "Options in another order";
    }

    /** Take new values from a button. */
    set(values) {
      Object.assign(this.asked, values);
      this.follow();
      this.change();
    }

    /** Take a new value from a control; ask once the reader pauses. */
    typed(name, control) {
      const number = Math.min(50, Math.max(1, Math.round(Number(control.value)) || 1));
      const value = { examples: number, frame: Number(control.value) }[name] ?? control.value;
      Object.assign(this.asked, { [name]: value });
      if (name === "relation")
        Object.assign(this.asked, { subject: this.drawn(), context: "", turn: 0, frame: 0 });
      if (name === "way") Object.assign(this.asked, { turn: 0, frame: 0 });
      if (name === "relation" || name === "way") this.follow();
      this.typing = true;
      this.result.setAttribute("aria-busy", "true");
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.typing = false;
        this.change();
      }, PAUSE);
    }

    drawn() {
      const { facts } = this.relation;
      return facts[Math.floor(Math.random() * facts.length)][0];
    }

    another() {
      this.set({ subject: this.drawn() });
    }

    /** Ask the model; while it is at work, remember only the newest question. */
    async change() {
      if (this.busy) {
        this.again = true;
        return;
      }
      this.busy = true;
      this.result.setAttribute("aria-busy", "true"); // until what stands there answers what is asked
      do {
        this.again = false;
        await this.answer({
          ...this.asked,
          subject: this.asked.subject.trim(),
          context: this.asked.context.trim(),
        });
      } while (this.again);
      this.busy = false;
      this.result.setAttribute("aria-busy", String(this.typing));
    }

    async answer(asked) {
      if (!asked.subject) {
        this.clear("Type a subject, or choose one from the list.");
        return;
      }
      const { catalogue, relation } = this;
      const known = live.factAbout(relation, asked.subject);
      const { prompt, objects, continuations } = live.ask(catalogue, asked);
      const marks = new Map();
      if (asked.context && this.way.context) marks.set(asked.context, "said first");
      if (known?.falseObject) marks.set(known.falseObject, "stated falsely");
      if (known) marks.set(known.object, "true");
      const keep = objects.flatMap((name, at) => (marks.has(name) ? [at] : []));
      try {
        const scored = await live.request("score", { prompt, continuations, floor: FLOOR, keep });
        const own = await live.request("go", { prompt });
        const bars = scored.map(({ logprob }, at) => {
          return {
            name: objects[at],
            probability: Math.exp(logprob),
            mark: marks.get(objects[at]) ?? "",
          };
        });
        this.draw({ asked, prompt, bars, own, relation });
      } catch (error) {
        this.clear(error.message);
      }
    }

    /** Leave nothing that belongs to an earlier question; say why. */
    clear(reason) {
      for (const place of [this.read, this.own, this.caption, this.rows]) place.replaceChildren();
      this.status.textContent = reason;
    }

    /** Show the likeliest objects and those with a mark, and what is true. */
    draw({ asked, prompt, bars, own, relation }) {
      const { catalogue } = this;
      bars.sort((a, b) => b.probability - a.probability);
      const shown = bars.filter(({ mark }, rank) => rank < SHOWN || mark);
      const truth = live.truth(catalogue, relation, asked.subject);
      this.read.textContent = prompt;
      this.own.textContent = own
        ? `Without options, the model writes: ${own}`
        : "Without options, the model ends the line at once.";
      const which =
        bars.length > shown.length
          ? `the ${SHOWN} likeliest of ${bars.length} objects`
          : "all objects";
      const marked =
        shown.length > SHOWN && bars.length > shown.length ? " and those with a mark" : "";
      this.caption.textContent = `What ${catalogue.model} expects next: ${which}${marked}.`;
      this.rows.replaceChildren(...shown.map((bar) => this.row(bar)));
      const [first] = bars;
      this.status.textContent = `Likeliest: ${first.name}, ${percent(first.probability)}. ${truth}`;
    }

    row({ name, probability, mark }) {
      const head = make("th", { scope: "row" }, name);
      if (mark) head.append(" ", make("span", { class: "live-mark" }, mark));
      const bar = make("span", { class: "live-bar" });
      bar.style.width = `${(100 * probability).toFixed(2)}%`;
      return make(
        "tr",
        { class: mark ? `live-${mark.replace(" ", "-")}` : "" },
        head,
        make(
          "td",
          {},
          make(
            "div",
            {},
            make("span", {}, percent(probability)),
            make("span", { class: "live-track" }, bar),
          ),
        ),
      );
    }
  }

  function begin() {
    document.querySelectorAll(".live-probe").forEach((box) => new Place(box));
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})((globalThis.LiveProbe ??= {}));
