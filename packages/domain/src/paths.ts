/** Paths without I/O: normalised text. Symlinks are not followed; nobody here can. */

const drive = /^[a-z]:\//i;

/** Something that a runtime might expand or fetch instead of taking it as a path below a folder. */
const special = (path: string): boolean => path === "" || path.startsWith("~") || /^[a-z][a-z0-9+.-]+:/i.test(path);

/** `.`, `..` and doubled slashes resolved. Undefined above the root. */
const normalize = (path: string): string | undefined => {
  const parts: Array<string> = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join("/");
};

/**
 * Whether `path` lies in the absolute folder `cwd` (or is it). A relative path stands under `base`, which itself may be
 * relative to `cwd`. A Windows `cwd` (with a drive) compares without case and takes backslashes as slashes.
 */
export const isInside = (cwd: string, path: string, base: string = cwd): boolean => {
  const windows = drive.test(cwd.replaceAll("\\", "/"));
  const slashed = (text: string): string => (windows ? text.replaceAll("\\", "/").toLowerCase() : text);
  const isAbsolute = (text: string): boolean => (windows ? drive.test(text) : text.startsWith("/"));
  const rooted = (text: string, under: string): string | undefined => {
    const clean = slashed(text);
    if (isAbsolute(clean)) return clean;
    // On Windows, `/x`, `//host/x` and `c:x` stand on a drive that is not known here.
    if (special(clean) || (windows && (clean.startsWith("/") || /^[a-z]:/.test(clean)))) return undefined;
    return `${under}/${clean}`;
  };
  const folder = slashed(cwd);
  if (!isAbsolute(folder) || path.includes("\0")) return false;
  const start = rooted(base, folder);
  const full = start === undefined ? undefined : rooted(path, start);
  const [outer, inner] = [normalize(folder), full === undefined ? undefined : normalize(full)];
  if (outer === undefined || inner === undefined) return false;
  return outer === "" || inner === outer || inner.startsWith(`${outer}/`);
};
