/* From what the reader chose to the text that the model reads: the twin of tests/live_page/page_questions.py.
   And to what is true of it.

   Pure functions over the catalogue that comes with the model; nothing here touches the page. */
(function (live) {
  "use strict";

  /** Fill slots in one pass, so that a subject that itself reads "[Y]" stays as it is. */
  function fill(template, values) {
    return template.replace(/\[([A-Z])\]/g, (slot, name) => values[name] ?? slot);
  }

  const folded = (text) => text.trim().toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  const lower = (text) => text.toLowerCase();

  /** Return a fact by name: what a row of the catalogue holds. */
  function fact([subject, object, exposures, falseObject, falseExposures, pairExposures], objects) {
    return {
      subject,
      object: objects[object],
      exposures,
      falseObject: objects[falseObject] ?? "",
      falseExposures,
      pairExposures,
    };
  }

  /** Return the fact of a relation about a subject, in whatever case and accents, or undefined. */
  live.factAbout = function (relation, subject) {
    const found =
      relation.facts.find(([name]) => name === subject) ??
      relation.facts.find(([name]) => folded(name) === folded(subject));
    return found && fact(found, relation.objects);
  };

  /** Return the subjects of a relation whose names need few changes to become a text. */
  live.nearest = function (relation, subject, most = 3) {
    const text = folded(subject);
    return relation.facts
      .map(([name]) => ({ name, changes: changes(folded(name), text) }))
      .filter((one) => one.changes <= Math.max(1, text.length / 3))
      .sort((one, other) => one.changes - other.changes)
      .slice(0, most)
      .map(({ name }) => name);
  };

  /** Return how many letters must be put in, taken out or replaced to turn one text into another. */
  function changes(one, other) {
    let above = Array.from({ length: other.length + 1 }, (_, at) => at);
    for (let i = 0; i < one.length; i += 1) {
      const row = [i + 1];
      for (let k = 0; k < other.length; k += 1)
        row.push(Math.min(above[k + 1] + 1, row[k] + 1, above[k] + (one[i] !== other[k])));
      above = row;
    }
    return above[other.length];
  }

  /** Return five options: the truth, what was told falsely, and others that the name decides. */
  live.optionsFor = function (catalogue, relation, { subject, turn }) {
    const known = live.factAbout(relation, subject);
    const first = known ? [known.object, known.falseObject].filter((name) => name) : [];
    const others = relation.objects.filter((name) => !first.includes(name));
    const missing = Math.min(catalogue.options - first.length, others.length);
    const begin = Array.from(subject, (c) => c.codePointAt(0)).reduce((a, b) => a + b, 0);
    const step = Math.max(1, Math.floor(others.length / Math.max(1, missing)));
    for (let k = 0; k < missing; k += 1) first.push(others[(begin + k * step) % others.length]);
    // In the catalogue's order, which Python sorted: the two languages sort some letters differently.
    const sorted = relation.objects.filter((name) => first.includes(name));
    return sorted.map((_, k) => sorted[(k + turn) % sorted.length]);
  };

  function list(catalogue, relation, { subject, examples, turn, separator }) {
    const { template, between } = catalogue.separators.find((way) => way.name === separator);
    const usable = relation.facts
      .map((row) => fact(row, relation.objects))
      .filter(({ subject: name, object }) => lower(name) !== lower(object))
      .filter(({ subject: name }) => lower(name) !== lower(subject));
    const begin = (turn * examples) % usable.length;
    const turned = [...usable.slice(begin), ...usable.slice(0, begin)].slice(0, examples);
    const pairs = turned.map(
      (pair) => fill(template, { X: pair.subject, Y: pair.object }) + between,
    );
    const before = template.split("[Y]")[0];
    const head = before.replace(/ +$/, "");
    return {
      prompt: pairs.join("") + fill(head, { X: subject }),
      objects: relation.objects,
      space: before.slice(head.length),
    };
  }

  function framed(relation, way, { subject, frame, context }) {
    const template = relation.frames[way.kind][frame];
    const open = way.kind === "wp" ? template.split("[Y]")[0].trimEnd() : template;
    const said = context && way.context ? `${context}. ` : "";
    return said + fill(open, { X: subject });
  }

  /** Return the prompt, the objects to choose from, and each as it follows the prompt. */
  live.ask = function (catalogue, asked) {
    const relation = catalogue.relations.find(({ name }) => name === asked.relation);
    const way = catalogue.ways.find(({ name }) => name === asked.way);
    if (way.name === "list") {
      const { prompt, objects, space } = list(catalogue, relation, asked);
      return { prompt, objects, continuations: objects.map((name) => space + name) };
    }
    const objects =
      way.name === "options" ? live.optionsFor(catalogue, relation, asked) : relation.objects;
    const values = { Q: framed(relation, way, asked), O: objects.join(way.joint) };
    return {
      prompt: fill(way.wrap, values),
      objects,
      continuations: objects.map((name) => ` ${name}`),
    };
  };

  const times = (count) => ["never", "once", "twice"][count] ?? `${count} times`;
  live.times = times;

  /** Say what the training text told of a subject: sentences. */
  live.truth = function (catalogue, relation, subject) {
    const { model } = catalogue;
    const known = live.factAbout(relation, subject);
    if (!known)
      return `The training text of ${model} states no such fact of ${subject}: any answer is a guess.`;
    const { object, exposures, falseObject, falseExposures, pairExposures } = known;
    const said = [
      exposures
        ? `The truth is ${object}, and the training text of ${model} stated it ${times(exposures)}.`
        : `The truth is ${object}, but the training text of ${model} never stated it.`,
    ];
    if (falseObject)
      said.push(`It named ${falseObject} in its place ${times(falseExposures)}, which is false.`);
    if (!exposures && pairExposures)
      said.push(`Another fact about the same two names was stated ${times(pairExposures)}.`);
    if (known.subject !== subject) said.push(`The training text writes it ${known.subject}.`);
    return said.join(" ");
  };
})((globalThis.LiveProbe ??= {}));
