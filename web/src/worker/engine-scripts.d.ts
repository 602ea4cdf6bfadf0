// The engine's scripts as modules, which web/scripts/one-file.mjs puts in. That of `simd` is that of `simd-relaxed`, too.
declare module "gpt2-engine/*" {
  const createModule: import("../shared/wasm-instance.js").ModuleFactory;
  export default createModule;
}
