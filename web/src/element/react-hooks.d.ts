/** The part of React that react.ts uses: React is not installed here. */
declare module "react" {
  export function createElement(tag: string, props: Readonly<Record<string, unknown>>): unknown;
  export function useRef<T>(value: T): { current: T };
  export function useLayoutEffect(run: () => void): void;
  export function useImperativeHandle(ref: unknown, create: () => unknown, changes: readonly unknown[]): void;
}
