// Plain JavaScript that Node 20 understands.
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/** Where this user's caches belong. Never the shared temporary folder, where others could plant code. */
const cacheFolder = () => {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (process.platform === "win32") return LOCALAPPDATA ?? join(homedir(), "AppData", "Local");
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches");
  return XDG_CACHE_HOME ?? join(homedir(), ".cache");
};

/** Lets Node keep what it compiled: a third of a start's time. A folder that can't be written costs nothing but that. */
export const keepCompiled = () => {
  if (process.env["NODE_COMPILE_CACHE"] === undefined)
    module.enableCompileCache?.(join(cacheFolder(), "tributary", "compiled"));
};
