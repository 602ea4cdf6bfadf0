// What `npm run lint` holds TypeScript and scripts to: everything that typescript-eslint can check with types.
// A rule that is off, or milder, says why.
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
      // TypeScript finds these itself, and knows which globals each project has.
      "no-undef": "off",
      // `async` without `await` makes what is thrown a rejection, as callers of an asynchronous interface expect.
      "@typescript-eslint/require-await": "off",
      // `() => f()` and `if (failed) return reject(error);` say no less than two lines would.
      "@typescript-eslint/no-confusing-void-expression": "off",
      // What an AbortSignal has for a reason, or a catch caught, is passed on as it is, whatever that is.
      "@typescript-eslint/prefer-promise-reject-errors": [
        "error",
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      "@typescript-eslint/only-throw-error": [
        "error",
        { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // Playwright's fixtures are asked for by destructuring, none by `{}`.
      "no-empty-pattern": ["error", { allowObjectPatternsAsParameters: true }],
      // A class with nothing but a constructor stands in for one of the browser's.
      "@typescript-eslint/no-extraneous-class": ["error", { allowConstructorOnly: true, allowEmpty: true }],
      // How a map of events is made known to the DOM's types.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // Names that syntax asks for: `for await (const _ of tokens)`, `(_, index) =>`, `{ left, ...rest }`.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_$", ignoreRestSiblings: true },
      ],
    },
  },
  {
    files: ["web/src/element/*.ts"],
    rules: {
      // `addProperties` defines what the interface of an element declares, so nothing is left undefined.
      "@typescript-eslint/no-unsafe-declaration-merging": "off",
    },
  },
  {
    files: ["**/*.mjs", "tests/**"],
    rules: {
      // JSON of files and tools, Vitest's matchers and values from a page are `any`: tests check or print exactly what
      // they hold. Sources read them as `unknown`, with one parser each.
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
