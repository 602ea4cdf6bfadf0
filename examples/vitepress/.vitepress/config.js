/** Without this, Vue takes the element for a component of its own. */
const isCustomElement = (tag) => tag.startsWith("gpt2-");

export default {
  title: "gpt2-wasm with VitePress",
  vue: { template: { compilerOptions: { isCustomElement } } },
};
