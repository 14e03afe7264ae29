/* Loads the model on demand, and passes questions to its worker and answers back. */
(function (live) {
  "use strict";

  const HERE = document.currentScript.src;

  let loading = null;
  let deliver = null;
  let waiting = new Map();
  let number = 0;

  /** Called by the bundle, once the browser has read it. */
  live.deliver = (bundle) => deliver(bundle);

  /** Load a bundle beside this script, once for all parts of the page; return its catalogue. */
  live.load = function (file) {
    loading ??= fetchBundle(file).then((bundle) => {
      start(bundle.code);
      return live.request("load", { parts: bundle.parts });
    });
    loading.catch(() => (loading = null)); // so that the reader may try again
    return loading;
  };

  /** Read the bundle as a script: a page opened from disk may not fetch, but may load scripts. */
  function fetchBundle(file) {
    return new Promise((resolve, reject) => {
      deliver = resolve;
      const script = document.createElement("script");
      script.src = new URL(file, HERE).href;
      script.onload = () => script.remove();
      script.onerror = () => reject(new Error(`The file ${script.src} could not be loaded.`));
      document.head.append(script);
    });
  }

  let worker = null;

  function start(code) {
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    worker = new Worker(address);
    worker.onmessage = ({ data: { id, answer, error } }) => {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) resolve(answer);
      else reject(new Error(error));
    };
    worker.onerror = ({ message }) => {
      for (const { reject } of waiting.values()) reject(new Error(message));
      waiting = new Map();
    };
  }

  /** Ask the worker for something: "score", "go" or "encode" (see worker.js). */
  live.request = function (kind, details) {
    return new Promise((resolve, reject) => {
      number += 1;
      waiting.set(number, { resolve, reject });
      worker.postMessage({ id: number, kind, ...details });
    });
  };
})((globalThis.LiveProbe ??= {}));
