/* The worker: reads the model once, then answers what the page asks, so that typing never stalls.

   The page makes it from text (tokenizer.js, model.js and this file come in one bundle), because a
   browser starts no worker from a file on disk. */
(function (live) {
  "use strict";

  const MOST_WORDS = 15; // tokens of the model's own continuation

  let model, tokenizer;

  /** Return the bytes of a part of the bundle: base64 of a gzip stream. */
  async function unpack(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer();
  }

  const json = async (text) => JSON.parse(new TextDecoder().decode(await unpack(text)));

  /** Read the bundle; return the catalogue, which the page needs and the worker does not. */
  async function load({ parts }) {
    model = new live.Model(
      await json(parts.config),
      live.readSafetensors(await unpack(parts.weights)),
    );
    tokenizer = new live.Tokenizer(await json(parts.tokenizer));
    return json(parts.catalogue);
  }

  /** Return how many elements two lists share from their beginning. */
  function shared(left, right) {
    let at = 0;
    while (at < left.length && at < right.length && left[at] === right[at]) at += 1;
    return at;
  }

  /** Refuse what is too long before any of it is read. */
  function check(ids) {
    if (ids.length > model.longest)
      throw new Error(`The text is ${ids.length} tokens long; the model reads ${model.longest}.`);
  }

  /** Let the model read ids and return the last node. */
  function read(ids) {
    const node = ids.reduce((parent, id) => model.add(parent, id), -1);
    model.run();
    return node;
  }

  /** Return the log-probability of each continuation of a prompt, as helpers.probing.score does.

      Prompt and continuation are tokenised as one text, and all are scored from the first token at
      which any of them leaves the prompt's own. A continuation that falls below the probability
      `floor` on its way is left there (`whole` is false) unless `keep` names its number. */
  function score({ prompt, continuations, floor = 0, keep = [] }) {
    model.tidy();
    const alone = tokenizer.encode(prompt);
    const rows = continuations.map((text, number) => {
      const ids = tokenizer.encode(prompt + text);
      return { ids, logprobs: [], sum: 0, node: -1, kept: keep.includes(number) };
    });
    rows.forEach((row) => check(row.ids));
    const start = rows.reduce(
      (least, row) => Math.min(least, shared(row.ids, alone)),
      alone.length,
    );
    const root = read(alone.slice(0, start));
    let alive = rows.filter((row) => row.ids.length > start);
    for (const row of alive) row.node = root;
    for (let at = start; alive.length; at += 1) {
      for (const row of alive) {
        row.logprobs.push(model.logprob(row.node, row.ids[at]));
        row.sum += row.logprobs.at(-1);
      }
      alive = alive.filter(
        (row) => at + 1 < row.ids.length && (row.kept || Math.exp(row.sum) >= floor),
      );
      for (const row of alive) row.node = model.add(row.node, row.ids[at]);
      model.run();
    }
    return rows.map(({ ids, logprobs, sum }) => {
      return { logprobs, logprob: sum, whole: logprobs.length === ids.length - start };
    });
  }

  /** Return what the model itself would write next, up to the end of the line. */
  function go({ prompt }) {
    model.tidy();
    const alone = tokenizer.encode(prompt);
    check([...alone, ...Array(MOST_WORDS)]);
    let node = read(alone);
    const ids = [];
    while (ids.length < MOST_WORDS) {
      const id = model.likeliest(node);
      if (id === model.end) break;
      ids.push(id);
      if (tokenizer.decode(ids).includes("\n")) break;
      node = model.add(node, id);
      model.run();
    }
    return tokenizer.decode(ids).split("\n")[0].trim();
  }

  const answers = { load, score, go, encode: ({ texts }) => texts.map((t) => tokenizer.encode(t)) };

  addEventListener("message", async ({ data }) => {
    try {
      postMessage({ id: data.id, answer: await answers[data.kind](data) });
    } catch (error) {
      postMessage({ id: data.id, error: error.message });
    }
  });
})((globalThis.LiveProbe ??= {}));
