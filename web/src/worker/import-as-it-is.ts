/** Imports the module at `url`. Bundlers must not change this import: they copied the file. */
export const importAsItIs = (url: string): Promise<unknown> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ url);
