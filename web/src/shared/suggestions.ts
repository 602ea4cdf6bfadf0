// Suggests an option in place of an unknown one: other libraries' names, and spelling mistakes.

/** Other libraries' names for our options, in lower case, without "_" and "-". */
const known = new Map(
  Object.entries({
    maxtokens: "maxNewTokens",
    maxlength: "maxNewTokens",
    maxcompletiontokens: "maxNewTokens",
    npredict: "maxNewTokens",
    temp: "temperature",
    repeatpenalty: "repetitionPenalty",
    penaltyrepeat: "repetitionPenalty",
    penaltyfreq: "frequencyPenalty",
    penaltypresent: "presencePenalty",
    mintokens: "minNewTokens",
    minlength: "minNewTokens",
    numreturnsequences: "n",
    stopsequences: "stop",
    stopstrings: "stop",
    stopwords: "stop",
    randomseed: "seed",
    toplogprobs: "logprobs",
    nprobs: "logprobs",
    abortsignal: "signal",
    progresscallback: "onProgress",
    nthreads: "threads",
    numthreads: "threads",
    requestheaders: "headers",
  }),
);

/** Options that do not exist here because something else replaces them. */
const elsewhere = new Map(
  Object.entries({
    ontoken: "read the tokens with `for await (const token of model.generate(prompt))`.",
    onnewtoken: "read the tokens with `for await (const token of model.generate(prompt))`.",
    streamer: "read the tokens with `for await (const token of model.generate(prompt))`.",
    stream: "read the tokens with `for await (const token of model.generate(prompt))`.",
    dosample: "temperature 0 takes the most probable token; any other value samples.",
    abortcontroller: "pass its signal as `signal`.",
  }),
);

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, "");

/** Letters to insert, remove, replace or swap with the next to turn `a` into `b` (optimal string alignment). */
export function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; ++i) {
    const row = [i];
    for (let j = 1; j <= b.length; ++j) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row[j] = least;
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** A hint for a caller who wrote `name` although only `names` are options; "" if there is none. */
export function suggestion(name: string, names: readonly string[]): string {
  const wanted = plain(name);
  const meant = names.find((each) => plain(each) === wanted) ?? known.get(wanted);
  if (meant !== undefined && names.includes(meant)) return `did you mean ${meant}?`;
  // Two mistakes in a long name, one in a short one. Very short names give no hint.
  const near = names
    .map((each) => ({ each, slips: distance(wanted, plain(each)) }))
    .filter(({ each, slips }) => slips <= Math.min(2, Math.floor(each.length / 3)))
    // Of two names that are equally near, the one with the same first letter: first letters are rarely wrong.
    .sort((a, b) => a.slips - b.slips || Number(b.each[0] === name[0]) - Number(a.each[0] === name[0]))[0];
  if (near) return `did you mean ${near.each}?`;
  return names.includes("maxNewTokens") ? (elsewhere.get(wanted) ?? "") : "";
}
