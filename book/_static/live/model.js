/* The forward pass of a Llama model, in plain JavaScript, over a tree of tokens.

   All that the model has read hangs in one tree: two texts that begin alike share their nodes, and
   a node keeps the keys and values of its token. So another subject behind the same list of examples,
   or a hundred objects behind one question, costs only the tokens that are new. Runs in the worker. */
(function (live) {
  "use strict";

  const TOGETHER = 64; // tokens that go through the layers at once: bounds the working memory
  const MOST_NODES = 6000; // beyond this the tree is felled before the next text (about 50 MB)

  /** Return the tensors of a safetensors file: name to Float32Array, whatever width it has there. */
  live.readSafetensors = function (buffer) {
    const size = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
    const tensors = {};
    for (const [name, about] of Object.entries(header)) {
      if (name === "__metadata__") continue;
      const [from, to] = about.data_offsets;
      tensors[name] = floats(buffer.slice(8 + size + from, 8 + size + to), about.dtype);
    }
    return tensors;
  };

  function floats(bytes, dtype) {
    if (dtype === "F32") return new Float32Array(bytes);
    if (dtype !== "BF16") throw new Error(`This page cannot read weights of type ${dtype}.`);
    // A bfloat16 is the upper half of a float32.
    const halves = new Uint16Array(bytes);
    const wide = new Uint32Array(halves.length);
    for (let i = 0; i < halves.length; i += 1) wide[i] = halves[i] << 16;
    return new Float32Array(wide.buffer);
  }

  /** Return x times the transposed weight: n rows of `inner` numbers to n rows of `outer`. */
  function multiply(weight, x, n, inner) {
    const outer = weight.length / inner;
    const y = new Float32Array(n * outer);
    let row = 0;
    for (; row + 4 <= n; row += 4) {
      // Four rows at a time: a weight that has been fetched is used four times.
      const [x0, x1, x2, x3] = [0, 1, 2, 3].map((k) => x.subarray((row + k) * inner));
      for (let out = 0, at = 0; out < outer; out += 1, at += inner) {
        let [a, b, c, d] = [0, 0, 0, 0];
        for (let i = 0; i < inner; i += 1) {
          const w = weight[at + i];
          a += w * x0[i];
          b += w * x1[i];
          c += w * x2[i];
          d += w * x3[i];
        }
        const to = row * outer + out;
        y[to] = a;
        y[to + outer] = b;
        y[to + 2 * outer] = c;
        y[to + 3 * outer] = d;
      }
    }
    for (; row < n; row += 1)
      for (let out = 0; out < outer; out += 1)
        y[row * outer + out] = dot(weight, out * inner, x, row * inner, inner);
    return y;
  }

  function dot(a, from, b, at, size) {
    let [even, odd] = [0, 0]; // two sums, that the processor need not wait for one
    for (let i = 0; i < size; i += 2) {
      even += a[from + i] * b[at + i];
      odd += a[from + i + 1] * b[at + i + 1];
    }
    return even + odd;
  }

  function normalise(x, weight, eps) {
    const width = weight.length;
    const y = new Float32Array(x.length);
    for (let at = 0; at < x.length; at += width) {
      const scale = 1 / Math.sqrt(dot(x, at, x, at, width) / width + eps);
      for (let i = 0; i < width; i += 1) y[at + i] = weight[i] * x[at + i] * scale;
    }
    return y;
  }

  function addTo(x, y) {
    for (let i = 0; i < x.length; i += 1) x[i] += y[i];
  }

  /** Turn each head by its token's place in the text (rotary embedding, first half with second). */
  function rotate(x, places, frequencies, width) {
    const half = frequencies.length;
    for (let row = 0; row < places.length; row += 1)
      for (let at = row * width; at < (row + 1) * width; at += 2 * half)
        for (let i = 0; i < half; i += 1) {
          const angle = Math.fround(places[row] * frequencies[i]);
          const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
          const [a, b] = [x[at + i], x[at + half + i]];
          x[at + i] = a * cos - b * sin;
          x[at + half + i] = b * cos + a * sin;
        }
  }

  /** Refuse what this pass does not compute: better no number than a wrong one. */
  function check(config) {
    const turned = config.rope_parameters ?? {
      rope_type: "default",
      rope_theta: config.rope_theta,
    };
    const known =
      config.model_type === "llama" &&
      config.hidden_act === "silu" &&
      !config.attention_bias &&
      !config.mlp_bias &&
      turned.rope_type === "default" &&
      config.head_dim % 2 === 0;
    if (!known) throw new Error("This page can only run plain Llama models.");
    return turned.rope_theta;
  }

  live.Model = class {
    /** Take the content of config.json, and tensors of `readSafetensors`. */
    constructor(config, tensors) {
      const theta = check(config);
      this.width = config.hidden_size;
      this.heads = config.num_attention_heads;
      this.headSize = config.head_dim;
      this.keySize = config.num_key_value_heads * config.head_dim;
      this.eps = config.rms_norm_eps;
      this.longest = config.max_position_embeddings;
      this.vocabulary = config.vocab_size;
      this.end = config.eos_token_id;
      this.embedding = tensors["model.embed_tokens.weight"];
      this.head = config.tie_word_embeddings ? this.embedding : tensors["lm_head.weight"];
      this.norm = tensors["model.norm.weight"];
      const half = config.head_dim / 2;
      this.frequencies = Float32Array.from({ length: half }, (_, i) => theta ** (-i / half));
      this.layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => {
        const take = (name) => tensors[`model.layers.${layer}.${name}.weight`];
        return {
          ...Object.fromEntries("qkvo".split("").map((w) => [w, take(`self_attn.${w}_proj`)])),
          gate: take("mlp.gate_proj"),
          up: take("mlp.up_proj"),
          down: take("mlp.down_proj"),
          before: take("input_layernorm"),
          between: take("post_attention_layernorm"),
        };
      });
      this.clear();
    }

    /** Forget all that was read. */
    clear() {
      this.room = 512;
      this.places = new Map(); // parent and token to node
      this.tokens = [];
      this.parents = [];
      this.depths = [];
      this.sums = []; // of a node: log of the sum over the vocabulary, once it has been asked for
      this.pending = [];
      this.keys = this.layers.map(() => new Float32Array(this.room * this.keySize));
      this.values = this.layers.map(() => new Float32Array(this.room * this.keySize));
      this.last = new Float32Array(this.room * this.width);
    }

    /** Make room for the next text, if much has been read. */
    tidy() {
      if (this.tokens.length > MOST_NODES) this.clear();
    }

    /** Return the node of a token behind a node (-1: at the beginning); new ones wait for `run`. */
    add(parent, token) {
      const place = (parent + 1) * this.vocabulary + token;
      const found = this.places.get(place);
      if (found !== undefined) return found;
      const node = this.tokens.length;
      const depth = parent < 0 ? 0 : this.depths[parent] + 1;
      this.places.set(place, node);
      this.tokens.push(token);
      this.parents.push(parent);
      this.depths.push(depth);
      this.sums.push(NaN);
      this.pending.push(node);
      return node;
    }

    /** Let the model read all nodes that wait. */
    run() {
      while (this.tokens.length > this.room) this.enlarge();
      while (this.pending.length) this.forward(this.pending.splice(0, TOGETHER));
    }

    enlarge() {
      const larger = (old) => {
        const made = new Float32Array(2 * old.length);
        made.set(old);
        return made;
      };
      this.room *= 2;
      this.keys = this.keys.map(larger);
      this.values = this.values.map(larger);
      this.last = larger(this.last);
    }

    forward(nodes) {
      const { width, eps } = this;
      const n = nodes.length;
      const places = nodes.map((node) => this.depths[node]);
      const ways = nodes.map((node) => this.way(node));
      const x = new Float32Array(n * width);
      nodes.forEach((node, row) => {
        const token = this.tokens[node];
        x.set(this.embedding.subarray(token * width, (token + 1) * width), row * width);
      });
      this.layers.forEach((layer, depth) => {
        const inside = normalise(x, layer.before, eps);
        const query = multiply(layer.q, inside, n, width);
        const key = multiply(layer.k, inside, n, width);
        const value = multiply(layer.v, inside, n, width);
        rotate(query, places, this.frequencies, query.length / n);
        rotate(key, places, this.frequencies, this.keySize);
        nodes.forEach((node, row) => {
          const [from, to] = [row * this.keySize, (row + 1) * this.keySize];
          this.keys[depth].set(key.subarray(from, to), node * this.keySize);
          this.values[depth].set(value.subarray(from, to), node * this.keySize);
        });
        const looked = this.attend(query, ways, depth);
        addTo(x, multiply(layer.o, looked, n, looked.length / n));
        const after = normalise(x, layer.between, eps);
        const gate = multiply(layer.gate, after, n, width);
        const up = multiply(layer.up, after, n, width);
        for (let i = 0; i < gate.length; i += 1) gate[i] *= up[i] / (1 + Math.exp(-gate[i]));
        addTo(x, multiply(layer.down, gate, n, gate.length / n));
      });
      const done = normalise(x, this.norm, eps);
      nodes.forEach((node, row) => {
        this.last.set(done.subarray(row * width, (row + 1) * width), node * width);
      });
    }

    /** Return the nodes from the beginning to a node: all that its token may look at. */
    way(node) {
      const way = new Int32Array(this.depths[node] + 1);
      for (let at = node; at >= 0; at = this.parents[at]) way[this.depths[at]] = at;
      return way;
    }

    attend(query, ways, layer) {
      const { heads, headSize, keySize } = this;
      const [keys, values] = [this.keys[layer], this.values[layer]];
      const y = new Float32Array(query.length);
      const sharing = (heads * headSize) / keySize; // heads that share keys and values
      ways.forEach((way, row) => {
        for (let head = 0; head < heads; head += 1) {
          const at = (row * heads + head) * headSize;
          const part = Math.floor(head / sharing) * headSize;
          const weights = Float32Array.from(
            way,
            (node) => dot(query, at, keys, node * keySize + part, headSize) / Math.sqrt(headSize),
          );
          const sum = exponentials(weights);
          for (let k = 0; k < way.length; k += 1) {
            const [weight, from] = [weights[k] / sum, way[k] * keySize + part];
            for (let i = 0; i < headSize; i += 1) y[at + i] += weight * values[from + i];
          }
        }
      });
      return y;
    }

    /** Return the scores of all tokens of the vocabulary behind a node. */
    scores(node) {
      const { width } = this;
      return multiply(this.head, this.last.subarray(node * width, (node + 1) * width), 1, width);
    }

    /** Return the log-probability of a token behind a node. */
    logprob(node, token) {
      const { width } = this;
      if (Number.isNaN(this.sums[node])) {
        const scores = this.scores(node);
        const most = scores.reduce((a, b) => Math.max(a, b));
        this.sums[node] = most + Math.log(exponentials(scores, most));
      }
      return dot(this.head, token * width, this.last, node * width, width) - this.sums[node];
    }

    /** Return the likeliest token behind a node. */
    likeliest(node) {
      const scores = this.scores(node);
      return scores.indexOf(scores.reduce((a, b) => Math.max(a, b)));
    }
  };

  /** Replace numbers by their exponentials, the largest being 1, and return the sum. */
  function exponentials(numbers, most = numbers.reduce((a, b) => Math.max(a, b))) {
    let sum = 0;
    for (let i = 0; i < numbers.length; i += 1) {
      numbers[i] = Math.exp(numbers[i] - most);
      sum += numbers[i];
    }
    return sum;
  }
})((globalThis.LiveProbe ??= {}));
