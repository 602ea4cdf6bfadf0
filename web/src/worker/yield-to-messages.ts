// Lets the worker's message handler run. setTimeout would cost four milliseconds per token.

const channel = new MessageChannel();
let resume: (() => void) | undefined;
channel.port1.onmessage = () => resume?.();

/** Resolves after the messages that have arrived so far. Only one caller at a time. */
export function yieldToMessages(): Promise<void> {
  return new Promise((resolve) => {
    resume = resolve;
    channel.port2.postMessage(null);
  });
}
