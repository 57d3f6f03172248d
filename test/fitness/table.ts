/** What one folder may depend on, and why no more. */
export interface Folder {
  /** Path from the repository's root. */
  readonly path: string;
  /** Its name as a package. */
  readonly name: string;
  /** The workspace packages that its shipped code may import. */
  readonly packages: ReadonlyArray<string>;
  /** The packages from the registry that its shipped code may import. */
  readonly externals: ReadonlyArray<string>;
  /** Whether its shipped code may use Node's built-in modules. */
  readonly node: boolean;
  /** False for test tools: what they need is installed for development only. */
  readonly ships?: false;
  /** The reason, as one sentence: the end of every message about this folder. */
  readonly why: string;
}

const contracts = "@tributary/contracts";
const domain = "@tributary/domain";
const store = "@tributary/store";

/** Test tools: for tests and scripts, never for code that ships. */
export const testkit = "@tributary/testkit";

/** The dependency table of the architecture. Changing a line here is a decision: record it in `docs/decisions`. */
export const folders: ReadonlyArray<Folder> = [
  {
    path: "packages/contracts",
    name: contracts,
    packages: [],
    externals: ["effect"],
    node: false,
    why: "contracts holds the schemas that every part and every client shares, so it depends on no part and runs anywhere.",
  },
  {
    path: "packages/domain",
    name: domain,
    packages: [contracts],
    externals: [],
    node: false,
    why: "domain decides from state and command alone: no Effect, clocks, ids or I/O, so that the same history always gives the same decision.",
  },
  {
    path: "packages/store",
    name: store,
    packages: [contracts, domain],
    externals: ["effect"],
    node: true,
    why: "store keeps events and asks domain to decide; it knows neither views nor runtimes.",
  },
  {
    path: "packages/projections",
    name: "@tributary/projections",
    packages: [contracts, store],
    externals: ["effect"],
    node: true,
    why: "projections turn committed events into rows; a decision made here would not be in the log.",
  },
  {
    path: "packages/ingestion",
    name: "@tributary/ingestion",
    packages: [contracts, domain, store],
    externals: ["effect"],
    node: true,
    why: "ingestion sees canonical events only; native protocols end in providers and views begin in projections.",
  },
  {
    path: "packages/engine",
    name: "@tributary/engine",
    packages: [contracts, domain, store],
    externals: ["effect"],
    node: true,
    why: "engine drives any runtime through the adapter types in contracts, so it knows no provider by name.",
  },
  {
    path: "packages/providers",
    name: "@tributary/providers",
    packages: [contracts],
    externals: ["effect", "@effect/platform-node"],
    node: true,
    why: "providers translate native protocols and hold no product rules, so they see contracts alone.",
  },
  {
    path: "packages/client",
    name: "@tributary/client",
    packages: [contracts],
    externals: ["effect"],
    node: false,
    why: "client is what browsers and phones run, so it sees contracts alone and nothing of Node.",
  },
  {
    path: "packages/testkit",
    name: testkit,
    packages: [contracts],
    externals: ["effect", "@effect/platform-node", "@effect/vitest", "vitest"],
    node: true,
    ships: false,
    why: "testkit's suites take the layers they test as arguments, so that every package's tests can use them without a cycle.",
  },
  {
    path: "apps/server",
    name: "@tributary/server",
    packages: [
      contracts,
      domain,
      store,
      "@tributary/projections",
      "@tributary/ingestion",
      "@tributary/engine",
      "@tributary/providers",
      "@tributary/client",
    ],
    // `node` is not imported: it brings the binary that the launcher starts. `uqr` draws the code that pairs a phone.
    externals: ["effect", "@effect/platform-node", "node", "uqr"],
    node: true,
    why: "server puts the parts together and ships, so test tools stay out and rules belong in the parts.",
  },
];

/** Packages of runtime vendors: a name, or a scope with its slash. Only `providers/src/<runtime>` may import them. */
export const vendors: ReadonlyArray<{ readonly runtime: string; readonly packages: ReadonlyArray<string> }> = [
  { runtime: "acp", packages: ["@agentclientprotocol/", "@zed-industries/agent-client-protocol"] },
  { runtime: "claude", packages: ["@anthropic-ai/"] },
  { runtime: "codebuddy", packages: ["@tencent-ai/"] },
  { runtime: "codex", packages: ["@openai/", "openai"] },
  { runtime: "copilot", packages: ["@github/copilot", "@github/copilot-sdk"] },
  { runtime: "cursor", packages: ["@cursor/"] },
  { runtime: "gemini", packages: ["@google/"] },
  { runtime: "grok", packages: ["@xai-official/", "@vibe-kit/grok-cli"] },
  { runtime: "kimi", packages: ["@moonshot-ai/"] },
  { runtime: "opencode", packages: ["@opencode-ai/", "@opencode/", "opencode-ai"] },
  { runtime: "pi", packages: ["@earendil-works/", "@mariozechner/"] },
  { runtime: "qoder", packages: ["@qoder-ai/"] },
  { runtime: "qwen", packages: ["@qwen-code/"] },
];

/** Why a vendor's package stays inside its runtime's folder. */
export const vendorWhy =
  "a vendor's package is imported only by the adapter of its runtime, so that a runtime can be added, changed or dropped in one folder.";

/** The runtime whose vendor publishes this package, or undefined. */
export const vendorOf = (packageName: string): string | undefined =>
  vendors.find(({ packages }) =>
    packages.some((known) => (known.endsWith("/") ? packageName.startsWith(known) : packageName === known)),
  )?.runtime;
