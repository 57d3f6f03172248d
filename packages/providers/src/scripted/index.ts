export { makeScripted, scripted } from "./adapter.ts";
export { demo } from "./demo.ts";
export { defaultCapabilities, loadScript, parseScript, ScriptedOptions, ScriptError } from "./load.ts";
export { Script, Step } from "./script.ts";
