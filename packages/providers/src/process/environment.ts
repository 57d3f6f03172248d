/**
 * The environment of a runtime's process: an allowlist of what the host has, plus what the instance sets.
 *
 * The host's own environment holds secrets and marks of other agents (a runtime that finds `CLAUDECODE` believes it
 * runs inside Claude Code and refuses or behaves differently), so nothing is passed on unless it is named here.
 */
import { Redacted } from "effect";

/** The variable by which every process of one spawned runtime is found again, wherever it went in the process table. */
export const MARKER_VARIABLE = "TRIBUTARY_MARKER";

/** Where programs, the home folder, the locale and temporary files are. */
const BASICS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TMPDIR", "TZ"];

/** How the network is reached and which certificates are trusted. Proxy variables are spelled in both cases. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"];
const CERTIFICATES = [
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NIX_SSL_CERT_FILE",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "AWS_CA_BUNDLE",
];

/** Without these, programs on Windows do not start or do not find their folders. */
const WINDOWS = [
  "SystemRoot",
  "SystemDrive",
  "windir",
  "ComSpec",
  "PATHEXT",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "USERNAME",
  "HOMEDRIVE",
  "HOMEPATH",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramData",
  "ProgramFiles",
  "ProgramFiles(x86)",
  "ProgramW6432",
  "CommonProgramFiles",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
  "OS",
];

const PREFIXES = ["LC_", "XDG_"];

/**
 * Marks by which a runtime recognises that it runs inside another agent, and switches that change how a host process
 * itself behaves. Never inherited, not even when asked for by name; an instance may still set them for its own runtime.
 */
const NEVER_INHERITED =
  /^(CLAUDECODE|CLAUDE_CODE_.*|CODEX_SANDBOX.*|CODEX_THREAD_ID|GEMINI_CLI|OPENCODE|CURSOR_AGENT|AI_AGENT|TRIBUTARY_.*|NODE_OPTIONS|NODE_CHANNEL_FD|ELECTRON_RUN_AS_NODE)$/i;

/** A value for the child; `undefined` takes the variable away. */
export type EnvironmentValue = string | Redacted.Redacted<string> | undefined;

/**
 * Builds a child's environment. Pure: the host's environment and platform come in as arguments.
 *
 * - `host`: what may be inherited from, by the allowlist and the names in `inherit`;
 * - `own`: what the instance sets; it wins over what is inherited;
 * - `marker`: put under `TRIBUTARY_MARKER`; it wins over everything.
 */
export const childEnvironment = (options: {
  readonly host: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly inherit?: ReadonlyArray<string>;
  readonly own?: Readonly<Record<string, EnvironmentValue>>;
  readonly marker: string;
}): Record<string, string> => {
  const ignoresCase = options.platform === "win32";
  const normal = (name: string): string => (ignoresCase ? name.toUpperCase() : name);
  const allowed = new Set(
    [...BASICS, ...CERTIFICATES, ...PROXIES, ...PROXIES.map((name) => name.toLowerCase())].map(normal),
  );
  if (ignoresCase) for (const name of WINDOWS) allowed.add(normal(name));
  for (const name of options.inherit ?? []) allowed.add(normal(name));

  const environment = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of Object.entries(options.host)) {
    if (value === undefined || NEVER_INHERITED.test(name)) continue;
    if (!allowed.has(normal(name)) && !PREFIXES.some((prefix) => normal(name).startsWith(prefix))) continue;
    environment.set(normal(name), [name, value]);
  }
  for (const [name, value] of Object.entries(options.own ?? {})) {
    if (value === undefined) environment.delete(normal(name));
    else environment.set(normal(name), [name, Redacted.isRedacted(value) ? Redacted.value(value) : value]);
  }
  environment.set(MARKER_VARIABLE, [MARKER_VARIABLE, options.marker]);
  return Object.fromEntries(environment.values());
};
