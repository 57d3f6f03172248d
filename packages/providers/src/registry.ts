/** The runtimes that this build knows: a line each in both tables. */
import type { Adapter } from "@tributary/contracts";
import { claudeTranslator } from "./claude/translate.ts";
import { codexTranslator } from "./codex/translate.ts";
import { scriptedTranslator } from "./scripted/translator.ts";
import type { Translator } from "./translator.ts";

/** An adapter is loaded when it is first used. */
const adapters = {
  claude: () => import("./claude/index.ts").then(({ claude }) => claude),
  codex: () => import("./codex/index.ts").then(({ codex }) => codex),
  scripted: () => import("./scripted/index.ts").then(({ scripted }) => scripted),
} satisfies Readonly<Record<string, () => Promise<Adapter>>>;

/** Pure and small: read recordings of runtimes that need not be installed. */
const translators: Readonly<Record<string, Translator>> = {
  claude: claudeTranslator,
  codex: codexTranslator,
  scripted: scriptedTranslator,
};

/** The names of the adapters, in the order in which they are shown. */
export const runtimes: ReadonlyArray<string> = Object.keys(adapters);

/** The adapter of a runtime; undefined for a name that this build does not know. */
export const loadAdapter = (runtime: string): Promise<Adapter> | undefined =>
  Object.hasOwn(adapters, runtime) ? adapters[runtime as keyof typeof adapters]() : undefined;

/** The names whose native recordings can be read. */
export const translatorNames: ReadonlyArray<string> = Object.keys(translators);

/** The translator of a runtime's native recordings; undefined for a name that has none. */
export const findTranslator = (runtime: string): Translator | undefined =>
  Object.hasOwn(translators, runtime) ? translators[runtime] : undefined;
