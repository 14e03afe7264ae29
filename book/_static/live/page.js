/* The part of a page in which the reader asks the model: button, form, and bars.

   Whatever a reader types, and whatever the data hold, reaches the page as text nodes only. Without
   this script the figure made with the book stays where the form would stand. */
(function (live) {
  "use strict";

  const SHOWN = 10; // bars, beside those that are marked
  const FLOOR = 1e-5; // an object that falls below on its way is not followed to its end
  const GHOST = 0.005; // a smaller probability has no hollow bar
  const PAUSE = 150; // milliseconds without a key before the model is asked
  const MOST = 50; // examples in a list
  const DRAWN = 5; // facts that a step of the slider asks about
  const LINK = "#ask?"; // begins the address of a link that sets the box: #ask?subject=Lyon&context=Peru

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

  /** Return the end of a text, from a word on. */
  function ending(text) {
    return text.length > 60 ? `… ${text.slice(-60).replace(/^\S*\s/, "")}` : text;
  }

  /* ---- one place in the page ---- */

  class Place {
    constructor(box) {
      this.box = box;
      this.told = JSON.parse(box.dataset.live);
      this.asked = { ...this.told.cases[0].asked };
      this.shown = null; // the answer that is shown: its question, prompt and probabilities
      this.previous = null; // the one before, whose bars stay behind
      this.pending = false; // whether a pause in the typing is awaited, or a case has more to ask
      this.still = box.querySelector("figure"); // what stands here without us
      this.status = make("p", { role: "status", class: "live-status" });
      this.button = make(
        "button",
        { type: "button", class: "live-load", onclick: () => this.play(this.told.cases[0]) },
        `Ask ${this.told.model} yourself (loads ${this.told.megabytes} MB, once)`,
      );
      this.said = box.querySelector(".live-said");
      this.cases = this.told.cases.map((one) =>
        make("button", { type: "button", onclick: () => this.play(one) }, one.label),
      );
      const group = { class: "live-cases", role: "group", "aria-label": "Cases" };
      const start = make("div", { class: "live-start" }, this.button, this.status);
      box.prepend(make("div", group, ...this.cases), this.said, start);
    }

    /** Show a case: ask its questions one after the other, so that the first one's bars remain. */
    async play(one) {
      if (!this.catalogue && !(await this.load())) return;
      this.choose(one);
      this.previous = null;
      for (const asked of [one.before, one.asked]) {
        if (!asked) continue;
        this.pending = asked !== one.asked;
        this.asked = { ...asked };
        this.follow();
        await this.change();
        if (this.chosen !== one) return;
        this.previous = this.shown;
      }
    }

    /** Show what a link in the text says: its question, behind it the same with nothing before it. */
    async showLinked(link) {
      if (!this.catalogue && !(await this.load())) return;
      const asked = { ...this.told.cases[0].asked, context: "", frame: 0, turn: 0 };
      for (const [name, text] of new URLSearchParams(link)) {
        if (!(name in asked)) continue;
        const number = Math.max(0, Math.round(Number(text)) || 0);
        asked[name] = typeof asked[name] === "number" ? number : text.slice(0, 200);
      }
      const { relations, ways, separators } = this.catalogue;
      const known = (list, name) => list.some((one) => one.name === name);
      if (!known(relations, asked.relation) || !known(ways, asked.way)) return;
      if (!known(separators, asked.separator)) return;
      const relation = relations.find(({ name }) => name === asked.relation);
      const kind = ways.find(({ name }) => name === asked.way).kind;
      asked.frame = Math.min(asked.frame, Math.max(0, (relation.frames[kind] ?? []).length - 1));
      asked.examples = this.clamped(asked.examples, relation);
      const before = asked.context ? { ...asked, context: "" } : null;
      this.box.scrollIntoView({ block: "start" });
      await this.play({ asked, before, said: "" });
    }

    /** Return how many examples a list of the relation can have, nearest to a number. */
    clamped(number, relation = this.relation) {
      return Math.min(this.most(relation), Math.max(1, Math.round(Number(number)) || 1));
    }

    most(relation = this.relation) {
      return Math.min(MOST, relation.facts.length - 1);
    }

    /** Mark the case that is shown, and say why it was chosen; none once the reader goes on. */
    choose(one) {
      this.chosen = one;
      this.drawnFacts = []; // those of the slider's step, until something else is asked
      this.cases.forEach((button, at) =>
        button.setAttribute("aria-pressed", String(this.told.cases[at] === one)),
      );
      this.said.textContent = one?.said ?? "";
    }

    /** Load the model and make the form; return whether that went well. */
    async load() {
      if (this.button.disabled) return false;
      this.button.disabled = true;
      this.status.textContent = `Loading ${this.told.model} …`;
      try {
        this.catalogue = await live.load(this.told.file);
      } catch (error) {
        this.status.textContent = `The model was not loaded: ${error.message} Try again, or use a newer browser.`;
        this.button.disabled = false;
        return false;
      }
      this.build();
      this.still.hidden = true;
      const focused = this.button.parentElement.contains(document.activeElement);
      this.button.parentElement.replaceWith(this.form, this.result);
      if (focused || document.activeElement === document.body) this.controls.subject.focus();
      return true;
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
        exposure: make("input", { type: "range", min: 0, step: 1 }),
        way: make("select"),
        frame: make("select"),
        context: text(objects),
        examples: make("input", { type: "number", min: 1, max: MOST, step: 1 }),
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
      this.stated = make("output", {});
      this.range = make("output", {});
      this.fields = {
        relation: field("Relation", controls.relation),
        subject: field("Subject", controls.subject, this.subjects),
        exposure: field("Times stated", controls.exposure, this.stated),
        another: make(
          "div",
          { class: "live-field" },
          press("Another subject", () => this.another()),
        ),
        way: field("Ask by", controls.way),
        frame: field("Wording", controls.frame),
        context: field("Text before the question (optional)", controls.context, this.objects),
        examples: field("Examples", controls.examples, this.range),
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
      for (const [name, control] of Object.entries(controls)) {
        control.addEventListener("focus", () => (this.previous = this.shown));
        control.addEventListener("input", () => this.typed(name, control));
      }
      controls.examples.addEventListener("change", () => {
        controls.examples.value = this.asked.examples; // what was typed may lie outside the range
      });
      this.buildResult();
      this.follow();
    }

    /** Make the empty places of what the model reads and says. */
    buildResult() {
      const reads = unique("reads");
      const named = { role: "group", "aria-labelledby": reads };
      this.read = make("pre", { class: "live-read", tabindex: "0", ...named });
      this.own = make("p", { class: "live-own" });
      this.offers = make("p", { class: "live-offers" });
      this.step = make("div", { class: "live-step", role: "group", "aria-label": "Facts of this step" });
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
        this.offers,
        this.own,
        this.step,
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
        const counts = relation.facts.map(([, , exposures]) => exposures);
        this.steps = [...new Set(counts)].sort((one, other) => one - other);
        controls.exposure.max = this.steps.length - 1;
        controls.examples.max = this.most();
        this.range.textContent = `1 to ${this.most()}`;
      }
      this.followExposure();
      fields.frame.hidden = frames.length === 0;
      fields.context.hidden = !way.context;
      fields.examples.hidden = fields.separator.hidden = way.name !== "list";
      fields.turn.hidden = way.name !== "list" && way.name !== "options";
      this.turn.textContent = way.name === "list" ? "Other examples" : "Options in another order";
    }

    /** Put the slider where the subject belongs, if the atlas has the fact. */
    followExposure() {
      const slider = this.controls.exposure;
      const stated = live.factAbout(this.relation, this.asked.subject)?.exposures;
      slider.value = Math.max(0, this.steps.indexOf(stated));
      this.stated.textContent = stated === undefined ? "unknown" : live.times(stated);
      slider.setAttribute("aria-valuetext", this.stated.textContent);
    }

    /** Take new values from a button. */
    set(values) {
      this.choose(null);
      this.pending = false;
      this.previous = this.shown;
      Object.assign(this.asked, values);
      this.follow();
      this.change();
    }

    /** Take a new value from a control; ask once the reader pauses. */
    typed(name, control) {
      const value = { examples: this.clamped(control.value), frame: Number(control.value) }[name] ?? control.value;
      this.choose(null);
      if (control.tagName === "SELECT") this.previous = this.shown;
      if (name === "exposure") {
        this.drawnFacts = this.drawnMany(this.steps[control.value]);
        [this.asked.subject] = this.drawnFacts;
      } else this.asked[name] = value;
      if (name === "relation")
        Object.assign(this.asked, { subject: this.drawn(), context: "", turn: 0, frame: 0 });
      if (name === "way") Object.assign(this.asked, { turn: 0, frame: 0 });
      if (["relation", "way", "exposure"].includes(name)) this.follow();
      this.followExposure();
      this.pending = true;
      this.result.setAttribute("aria-busy", "true");
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.pending = false;
        this.change();
      }, PAUSE);
    }

    /** Return a subject drawn by lot: of those stated so many times and not falsely, or of all. */
    drawn(stated) {
      const fits = ([, , exposures, falseObject]) => exposures === stated && falseObject < 0;
      const some = this.relation.facts.filter(fits);
      const facts = some.length ? some : this.relation.facts;
      return facts[Math.floor(Math.random() * facts.length)][0];
    }

    /** Return subjects of different facts stated so many times, drawn by lot. */
    drawnMany(stated) {
      const some = new Set();
      for (let tries = 0; some.size < DRAWN && tries < 20 * DRAWN; tries += 1)
        some.add(this.drawn(stated));
      return [...some];
    }

    another() {
      this.set({ subject: this.drawn() });
    }

    /** Ask the model, and once more if it is at work: then only the newest question counts. */
    change() {
      this.again = true;
      this.running ??= this.work().finally(() => (this.running = null));
      return this.running;
    }

    async work() {
      this.result.setAttribute("aria-busy", "true"); // until what stands there answers what is asked
      while (this.again) {
        this.again = false;
        await this.answer({
          ...this.asked,
          subject: this.asked.subject.trim(),
          context: this.asked.context.trim(),
        });
      }
      this.result.setAttribute("aria-busy", String(this.pending));
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
      if (asked.context && this.way.context) marks.set(asked.context, "before the question");
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
        await this.drawStep(asked, relation);
      } catch (error) {
        this.clear(error.message);
      }
    }

    /** Leave nothing that belongs to an earlier question; say why. */
    clear(reason) {
      for (const place of [this.read, this.own, this.offers, this.step, this.caption, this.rows])
        place.replaceChildren();
      this.shown = null;
      this.status.textContent = reason;
    }

    /** Show the likeliest objects and those with a mark, and what is true. */
    draw({ asked, prompt, bars, own, relation }) {
      const { catalogue } = this;
      bars.sort((a, b) => b.probability - a.probability);
      const [first] = bars;
      const before = this.previous?.relation === relation ? this.previous : null;
      const shown = bars.filter(
        ({ name, mark }, rank) => rank < SHOWN || mark || name === before?.first,
      );
      const truth = live.truth(catalogue, relation, asked.subject);
      this.read.textContent = prompt;
      this.own.textContent = own
        ? `The model itself writes: ${own}`
        : "The model itself ends the line at once.";
      const which =
        bars.length > shown.length
          ? `the ${SHOWN} likeliest of ${bars.length} objects`
          : "all objects";
      const marked =
        shown.length > SHOWN && bars.length > shown.length ? " and those with a mark" : "";
      const behind = before ? ` Dashed outline: the answer before, to “${ending(before.prompt)}”.` : "";
      this.caption.textContent = `What ${catalogue.model} expects next: ${which}${marked}.${behind}`;
      this.rows.replaceChildren(
        ...shown.map((bar) => this.row(bar, before?.probabilities.get(bar.name))),
      );
      this.status.textContent = `Likeliest: ${first.name}, ${percent(first.probability)}. ${truth}`;
      this.offer(asked, relation);
      const probabilities = new Map(bars.map(({ name, probability }) => [name, probability]));
      this.shown = { relation, prompt, probabilities, first: first.name };
    }

    /** Say of each fact of the slider's step which object is likeliest; a press shows its bars. */
    async drawStep(asked, relation) {
      const drawn = this.drawnFacts;
      const rows = [];
      for (const subject of drawn) {
        const { prompt, objects, continuations } = live.ask(this.catalogue, { ...asked, subject });
        const scored = await live.request("score", { prompt, continuations, floor: FLOOR, keep: [] });
        const best = scored.reduce((top, { logprob }, at) => (logprob > scored[top].logprob ? at : top), 0);
        const right = objects[best] === live.factAbout(relation, subject)?.object;
        rows.push({ subject, right, best: objects[best] });
        if (this.again || this.drawnFacts !== drawn) return; // the reader went on
      }
      const show = (subject) => () => {
        this.set({ subject });
        this.drawnFacts = drawn;
      };
      const press = ({ subject, right, best }) =>
        make("button", { type: "button", onclick: show(subject) }, `${right ? "✓" : "✗"} ${subject}: ${best}`);
      const right = rows.filter((row) => row.right).length;
      const head = `Right for ${right} of ${rows.length} facts stated ${this.stated.textContent}, drawn at random:`;
      this.step.replaceChildren(...(rows.length ? [make("p", {}, head), ...rows.map(press)] : []));
    }

    /** Offer the subject as the training text writes it, or those with names like it. */
    offer({ subject }, relation) {
      const known = live.factAbout(relation, subject)?.subject;
      const names = known ? [known] : live.nearest(relation, subject);
      const ask = (name) =>
        make("button", { type: "button", onclick: () => this.take(name) }, `Ask about ${name}`);
      this.offers.replaceChildren(...names.filter((name) => name !== subject).map(ask));
    }

    take(subject) {
      this.set({ subject });
      this.controls.subject.focus(); // the button that was pressed goes away
    }

    row({ name, probability, mark }, before) {
      const head = make("th", { scope: "row" }, name);
      if (mark) head.append(" ", make("span", { class: "live-mark" }, mark));
      const bar = make("span", { class: "live-bar" });
      bar.style.width = `${(100 * probability).toFixed(2)}%`;
      const track = make("span", { class: "live-track" }, bar);
      const share = make("span", {}, percent(probability));
      if (before > GHOST) {
        const ghost = make("span", { class: "live-ghost" });
        ghost.style.width = `${(100 * before).toFixed(2)}%`;
        track.append(ghost);
        share.append(make("span", { class: "live-aside" }, `, before ${percent(before)}`));
      }
      return make(
        "tr",
        { class: mark ? `live-${mark.replace(" ", "-")}` : "" },
        head,
        make("td", {}, make("div", {}, share, track)),
      );
    }
  }

  function begin() {
    const [first] = [...document.querySelectorAll(".live-probe")].map((box) => new Place(box));
    const follow = (hash) => hash.startsWith(LINK) && first?.showLinked(hash.slice(LINK.length));
    document.addEventListener("click", ({ target }) => {
      const link = target.closest?.(`a[href^="${LINK}"]`); // again and again, though the address stays
      if (link) follow(link.hash);
    });
    follow(location.hash);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})((globalThis.LiveProbe ??= {}));
