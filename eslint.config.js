// Style of the scripts: `npm run lint`. Whether a name exists is left to the type checker, which knows the shared scripts.
import { readdirSync, readFileSync } from "node:fs";
import js from "@eslint/js";
import globals from "globals";

const FOLDER = "src/helpers/explore", STUDIO = "bookbuild/studio";
const PAGE = ["book", "guess", "ledger"].map(name => `book/_static/${name}.js`);
// base.py joins scripts into one module: only an explorer's last script exports, the others define names for it.
const exports = name => readFileSync(`${import.meta.dirname}/${FOLDER}/${name}`, "utf8").includes("\nexport default ");
const shared = readdirSync(`${import.meta.dirname}/${FOLDER}`).filter(name => name.endsWith(".js") && !exports(name));

export default [
  { ignores: ["**/*", "!src/", "!src/helpers/", `!${FOLDER}/`, `!${FOLDER}/*.js`, "!bookbuild/", `!${STUDIO}/`, `!${STUDIO}/*.js`, "!book/", "!book/_static/", ...PAGE.map(path => `!${path}`), "!eslint.config.js"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off",
      "no-unused-vars": ["error", { vars: "local", argsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      semi: "error",
    },
  },
  { files: [...shared.map(name => `${FOLDER}/${name}`), `${STUDIO}/*.js`, ...PAGE], languageOptions: { sourceType: "script" } },
];
