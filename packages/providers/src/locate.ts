/** Finding a runtime's program: the one that is configured, else the first on the path, and the copies behind it. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export interface Located {
  /** Absolute; nothing where there is none. */
  readonly path?: string;
  /** Other copies on the path that this one hides, in its order. */
  readonly shadowed: ReadonlyArray<string>;
}

const isProgram = (path: string): boolean => {
  try {
    if (!statSync(path).isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** On Windows a name stands for several files. */
const namesOf = (name: string, pathExtensions: string | undefined): ReadonlyArray<string> =>
  pathExtensions === undefined
    ? [name]
    : [name, ...pathExtensions.split(";").map((extension) => `${name}${extension}`)];

/**
 * `command`: a name to look up, or a path. `searchPath` is the PATH that the child will have; `pathExtensions` is PATHEXT,
 * where the platform has it. Relative folders on it are passed over. Links to the same file count once. Looks at the file system.
 */
export const locate = (command: string, searchPath: string, pathExtensions?: string): Located => {
  if (isAbsolute(command) || /[\\/]/.test(command)) {
    const path = resolve(command);
    return isProgram(path) ? { path, shadowed: [] } : { shadowed: [] };
  }
  const found = new Map<string, string>();
  for (const folder of searchPath.split(delimiter)) {
    // A relative entry would be a folder of whatever workspace we were started in: its programs are not ours to start.
    if (!isAbsolute(folder)) continue;
    for (const name of namesOf(command, pathExtensions)) {
      const path = resolve(join(folder, name));
      if (isProgram(path) && !found.has(real(path))) found.set(real(path), path);
    }
  }
  const [path, ...shadowed] = found.values();
  return path === undefined ? { shadowed } : { path, shadowed };
};
