/** The elements as components of React 18 and 19, also in pages that a server renders. */
import { createElement, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { setLate, sortProps } from "./react-props.js";

// By name: Next.js allows no `export *` in a module that it sends to the browser.
export { define, Gpt2Autocomplete, Gpt2Writer, setWords } from "./index.js";

type Props = Readonly<Record<string, unknown>>;

const componentOf = (tag: string) =>
  function Gpt2Element({ ref, ...props }: Props): unknown {
    const element = useRef<HTMLElement | null>(null);
    const before = useRef<Props>({});
    const { attributes, late } = sortProps(props);
    useImperativeHandle(ref, () => element.current, []);
    useLayoutEffect(() => {
      if (element.current) setLate(element.current, before.current, late);
      before.current = late;
    });
    return createElement(tag, { ...attributes, ref: element });
  };

/** `<gpt2-writer>`. */
export const Writer = componentOf("gpt2-writer");
/** `<gpt2-autocomplete>`. */
export const Autocomplete = componentOf("gpt2-autocomplete");
