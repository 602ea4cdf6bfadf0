/** Imports the module at `url`. Bundlers are to leave it alone: they copied the file. */
export const importAsItIs = (url: string): Promise<unknown> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ url);
