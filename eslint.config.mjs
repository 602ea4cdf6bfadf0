// The rules of `npm run lint` for TypeScript and scripts: all that typescript-eslint can check with types. A comment says why a
// rule is off or relaxed.
import eslint from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { ignores: [".cache/", "build/", "examples/", "tests/data/", "web/dist/", "web/models/"] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      // TypeScript reports undefined names itself, and knows the globals of each project.
      "no-undef": "off",
      // `async` without `await` turns a thrown error into a rejection, which callers of an asynchronous interface expect.
      "@typescript-eslint/require-await": "off",
      // Allows `() => f()` and `if (failed) return reject(error);`, which are as clear as two lines.
      "@typescript-eslint/no-confusing-void-expression": "off",
      // The reason of an AbortSignal, or a caught value, is passed on unchanged, whatever its type.
      "@typescript-eslint/prefer-promise-reject-errors": [
        "error",
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      "@typescript-eslint/only-throw-error": [
        "error",
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // Playwright tests request fixtures by destructuring; `{}` requests none.
      "no-empty-pattern": ["error", { allowObjectPatternsAsParameters: true }],
      // In tests, a class with only a constructor replaces one of the browser's.
      "@typescript-eslint/no-extraneous-class": ["error", { allowConstructorOnly: true, allowEmpty: true }],
      // An empty interface adds an event map to the DOM's types.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Names that the syntax requires: `for await (const _ of tokens)`, `(_, index) =>`, `{ left, ...rest }`.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_$", ignoreRestSiblings: true },
      ],
    },
  },
  {
    files: ["web/src/element/*.ts"],
    rules: {
      // `addProperties` defines every property that the interface of an element declares.
      "@typescript-eslint/no-unsafe-declaration-merging": "off",
    },
  },
  {
    files: ["**/*.mjs", "tests/**"],
    rules: {
      // JSON of files and tools, Vitest's matchers and values from a page are `any`, and tests check or print them. Sources
      // read such values as `unknown`, with one parser each.
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/restrict-plus-operands": ["error", { allowAny: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowAny: true, allowNumber: true }],
      "@typescript-eslint/use-unknown-in-catch-callback-variable": "off",
    },
  },
);
