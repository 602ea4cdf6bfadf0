// The engine's scripts as modules, which web/scripts/one-file.mjs puts in. That of `simd` is that of `simd-relaxed`, too.
declare module "gpt2-engine/*" {
  const createModule: import("./engine.js").EngineFactory;
  export default createModule;
}
