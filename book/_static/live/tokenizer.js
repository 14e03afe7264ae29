/* From text to token ids, as the model's tokenizer.json says: byte-level byte-pair encoding.

   A plain script and no module, because browsers refuse modules in a page opened from disk. It runs
   in the worker (worker.js). Only the kind of tokenizer that the bundled models have is understood;
   any other is refused rather than read wrongly. */
(function (live) {
  "use strict";

  // Python's \s and JavaScript's differ (U+FEFF, U+0085); the property is what the tokenizer means.
  const SPACE = "\\p{White_Space}";
  // How GPT-2, and every tokenizer of the kind ByteLevel, parts a text into words.
  const WORDS = new RegExp(
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+" +
      `| ?[^${SPACE}\\p{L}\\p{N}]+|${SPACE}+(?!\\P{White_Space})|${SPACE}+`,
    "gu",
  );

  /** Return the letter that stands for each byte: itself where it can be seen, else one from 256. */
  function byteLetters() {
    const letters = [];
    let next = 256;
    for (let byte = 0; byte < 256; byte += 1) {
      const seen = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
      letters.push(String.fromCodePoint(seen ? byte : next));
      if (!seen) next += 1;
    }
    return letters;
  }

  const LETTERS = byteLetters();
  const BYTES = new Map(LETTERS.map((letter, byte) => [letter, byte]));

  function refuse(what) {
    throw new Error(`This page cannot read the model's tokenizer: ${what}.`);
  }

  live.Tokenizer = class {
    /** Take the content of a tokenizer.json. */
    constructor({ model, normalizer, pre_tokenizer: words, post_processor: frame, ...rest }) {
      if (model.type !== "BPE") refuse(`its model is ${model.type}, not BPE`);
      if (model.ignore_merges || model.byte_fallback || model.continuing_subword_prefix)
        refuse("its BPE has settings that are not known here");
      if (words?.type !== "ByteLevel" || !words.use_regex) refuse("its words are not ByteLevel");
      if (normalizer && normalizer.type !== "Replace")
        refuse(`it normalises by ${normalizer.type}`);
      this.vocabulary = new Map(Object.entries(model.vocab));
      this.pieces = new Map(Object.entries(model.vocab).map(([piece, id]) => [id, piece]));
      this.ranks = new Map(model.merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
      this.leadingSpace = words.add_prefix_space;
      this.special = new Map((rest.added_tokens ?? []).map((token) => [token.content, token.id]));
      this.before = (frame?.single ?? [])
        .filter((part) => part.SpecialToken)
        .flatMap((part) => frame.special_tokens[part.SpecialToken.id].ids);
      this.replace = normalizer && {
        pattern: pattern(normalizer.pattern),
        content: normalizer.content,
      };
      this.known = new Map();
    }

    /** Return the ids of a text, those that the tokenizer puts before every text included. */
    encode(text) {
      const ids = [...this.before];
      for (const part of this.parts(text)) {
        if (this.special.has(part)) ids.push(this.special.get(part));
        else for (const word of this.words(part)) ids.push(...this.merge(word));
      }
      return ids;
    }

    /** Return the text of ids; special tokens are left out. */
    decode(ids) {
      const special = new Set(this.special.values());
      const written = ids.filter((id) => !special.has(id)).map((id) => this.pieces.get(id) ?? "");
      const bytes = Array.from(written.join(""), (letter) => BYTES.get(letter));
      return new TextDecoder().decode(Uint8Array.from(bytes));
    }

    /** Part a text at special tokens, which are found before anything else happens. */
    parts(text) {
      if (!this.special.size) return [text];
      const names = [...this.special.keys()].map((name) => name.replace(/[^\w<>]/g, "\\$&"));
      return text.split(new RegExp(`(${names.join("|")})`)).filter((part) => part !== "");
    }

    words(text) {
      let told = this.replace
        ? text.replace(this.replace.pattern, () => this.replace.content)
        : text;
      if (this.leadingSpace && !told.startsWith(" ")) told = ` ${told}`;
      return told.match(WORDS) ?? [];
    }

    /** Merge the letters of a word, the earliest-learnt pair first, and return the ids. */
    merge(word) {
      if (this.known.has(word)) return this.known.get(word);
      const parts = Array.from(new TextEncoder().encode(word), (byte) => LETTERS[byte]);
      for (;;) {
        let best = Infinity;
        let place = -1;
        for (let at = 0; at + 1 < parts.length; at += 1) {
          const rank = this.ranks.get(`${parts[at]} ${parts[at + 1]}`) ?? Infinity;
          if (rank < best) [best, place] = [rank, at];
        }
        if (place < 0) break;
        parts.splice(place, 2, parts[place] + parts[place + 1]);
      }
      const ids = parts.map((part) => this.vocabulary.get(part));
      if (this.known.size < 50000) this.known.set(word, ids);
      return ids;
    }
  };

  /** Return the pattern of a normalizer as JavaScript writes it. */
  function pattern({ Regex: regex, String: text }) {
    if (regex === undefined) return new RegExp(text.replace(/[^\w\s]/g, "\\$&"), "gu");
    return new RegExp(regex.replace(/\\S/g, "\\P{White_Space}").replace(/\\s/g, SPACE), "gu");
  }
})((globalThis.LiveProbe ??= {}));
