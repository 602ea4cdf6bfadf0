// gpt2-fallback.js: fetches the module that contains worker and engines. Nuxt and VitePress preload what a page's
// modules import on demand, one level deep. So they preload this small file and not the 870 kB behind it.

export const startInlined = async () => (await import("./inlined-worker.js")).startInlined();
