export default {
  title: "gpt2-wasm with Docusaurus",
  url: "https://site.example",
  baseUrl: "/",
  plugins: ["@docusaurus/plugin-content-pages"],
  themes: ["@docusaurus/theme-classic"],
};
