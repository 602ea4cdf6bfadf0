// Lays out JSON as gpt2-weights does (nlohmann's dump(2)), so that both write the same bytes. JSON.stringify would reorder
// keys such as "0", and write 1e-05 as 0.00001.

/** Powers of ten that are written without an exponent: `to_chars` of nlohmann's JSON library. */
const leastPower = -4;
const mostPower = 14;

/** The shortest digits of a fraction, such as 1e-05, 0.02 or 2.0. */
function fraction(value: number): string {
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (power >= leastPower && power <= mostPower) {
    const text = value.toString();
    return text.includes(".") ? text : `${text}.0`;
  }
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** A whole number stays as it is; beyond 64 bits it counts as a fraction. */
function numberText(text: string): string {
  const isStored = /^-?\d+$/.test(text) && BigInt(text) >= -(2n ** 63n) && BigInt(text) < 2n ** 64n;
  return isStored ? String(BigInt(text)) : fraction(Number(text));
}

/** The text of JSON, with two spaces per level. `json` must be valid. */
export function indented(json: string): string {
  let depth = 0;
  let last = "";
  let text = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    if ("}]".includes(token)) {
      depth -= 1;
      text += ("{[".includes(last) ? "" : line()) + token;
    } else {
      if (last === "," || last === "{" || last === "[") text += line();
      if (token === ":") text += ": ";
      else if (token.startsWith('"')) text += JSON.stringify(JSON.parse(token));
      else if (/^[-\d]/.test(token)) text += numberText(token);
      else text += token;
      if ("{[".includes(token)) depth += 1;
    }
    last = token;
  }
  return text;
}
