// Reads the worker's messages. Other messages are ignored: scripts of bundlers and browsers send some, too.
import type { FromWorker, RequestName } from "../shared/protocol.js";
import {
  anyNumber,
  anyObject,
  limits,
  list,
  atField,
  optional,
  record,
  text,
  wholeNumber,
  type ReadValue,
} from "../shared/wire.js";

const having = record<Readonly<Record<string, unknown>>>;
const someText = text(limits.text);
const textOrNull: ReadValue<string | null> = (value) => (value === null ? null : someText(value));
const tokens = list(having({ id: wholeNumber, text: someText }), limits.tokenIds);

/** The parts of a result that its reader depends on. A worker of the same release sends the rest. */
const results: { readonly [K in RequestName]: ReadValue<unknown> } = {
  load: having({ info: anyObject }),
  generate: having({ finishReasons: list(someText, limits.stops), seed: anyNumber }),
  prefill: anyObject,
  inspect: anyObject,
  score: having({ tokens, logprob: anyNumber }),
  tokenize: list(wholeNumber, limits.text),
  detokenize: someText,
};
const events: { readonly [K in RequestName]?: ReadValue<unknown> } = {
  generate: having({ tokens: optional(tokens), prompt: optional(anyObject) }),
};

const messages: { readonly [T in FromWorker["type"]]: ReadValue<unknown> } = {
  event: having({ id: wholeNumber }),
  done: having({ id: wholeNumber }),
  failed: having({ id: wholeNumber, error: having({ code: someText, message: someText }) }),
  info: having({
    info: having({ threads: wholeNumber, notice: textOrNull }),
    threadChoice: optional(having({ key: someText, threads: wholeNumber, speed: optional(anyNumber) })),
  }),
  started: having({ release: someText }),
  alive: having({ lock: textOrNull }),
  ended: anyObject,
};

/** Whether `data` is a message of the engine's worker. */
export function isAnswer(data: unknown): boolean {
  const { type } = Object(data) as { type?: unknown };
  return typeof type === "string" && Object.hasOwn(messages, type);
}

/**
 * A message that `isAnswer` accepts. Throws an InvalidArgumentError that names an invalid field. `nameOf` returns the
 * name of a request by its id, or undefined if none is waiting.
 */
export function readAnswer(data: unknown, nameOf: (id: number) => RequestName | undefined): FromWorker {
  const message = data as FromWorker;
  atField("message", messages[message.type])(message);
  const name = "id" in message ? nameOf(message.id) : undefined;
  if (name === undefined) return message;
  if (message.type === "done") atField("message.result", results[name])(message.result);
  if (message.type === "event") atField("message.event", events[name] ?? anyObject)(message.event);
  return message;
}
