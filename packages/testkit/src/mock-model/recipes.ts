/**
 * How a real runtime is pointed at the mock: the files of its home folder and its environment. Pure data; the caller
 * writes the files and spawns the program. Facts seen with Codex 0.171.0 and Claude Code 2.1.332.
 */

/** The model that the recipes select for Codex: one that Codex does not know, see {@link codexModelCatalog}. */
export const codexModel = "mock-model";
/** A model that Claude Code knows. An unknown name works too, but is priced and sized as unknown. */
export const claudeModel = "claude-sonnet-4-5";

/**
 * What Codex is told about the mock model. Without a catalog an unknown model gets fallback metadata, a warning in
 * each thread and no `apply_patch` tool; Codex's own newer models run in "code mode" (one JavaScript tool), which the
 * mock does not speak. The fields are the fewest that 0.171 accepts.
 */
export const codexModelCatalog = {
  models: [codexModel, `${codexModel}-mini`].map((slug, priority) => ({
    slug,
    display_name: slug,
    description: "A scripted model for tests.",
    default_reasoning_level: "medium",
    supported_reasoning_levels: ["low", "medium", "high"].map((effort) => ({ effort, description: effort })),
    shell_type: "unified_exec",
    visibility: "list",
    supported_in_api: true,
    priority,
    base_instructions: "You are a scripted model for tests.",
    apply_patch_tool_type: "freeform",
    context_window: 272_000,
    input_modalities: ["text", "image"],
    truncation_policy: { mode: "tokens", limit: 10_000 },
    experimental_supported_tools: [],
    supports_parallel_tool_calls: true,
    support_verbosity: false,
    default_verbosity: null,
  })),
};

/** Files of a `CODEX_HOME`, by name. `home` is its absolute path. */
export const codexHome = (mockUrl: string, home: string): Readonly<Record<string, string>> => ({
  "models.json": JSON.stringify(codexModelCatalog),
  "config.toml": [
    `model = ${JSON.stringify(codexModel)}`,
    'model_provider = "mock"',
    `model_catalog_json = ${JSON.stringify(`${home}/models.json`)}`,
    "check_for_update_on_startup = false",
    "",
    "[model_providers.mock]",
    'name = "mock"',
    `base_url = ${JSON.stringify(`${mockUrl}/v1`)}`,
    'wire_api = "responses"',
    'env_key = "MOCK_API_KEY"',
    "request_max_retries = 1",
    "stream_max_retries = 1",
    "supports_websockets = false",
    "",
    "# The to-do tool is off by default for a model that is not OpenAI's.",
    "[tools.update_plan]",
    "enabled = true",
    "",
    "[analytics]",
    "enabled = false",
    "",
  ].join("\n"),
});

/** Environment of `codex app-server`, besides PATH. */
export const codexEnvironment = (home: string): Readonly<Record<string, string>> => ({
  HOME: home,
  CODEX_HOME: home,
  MOCK_API_KEY: "sk-fake",
  RUST_LOG: "error",
});

/** Environment of `claude`, besides PATH. `home` is its configuration folder. */
export const claudeEnvironment = (mockUrl: string, home: string): Readonly<Record<string, string>> => ({
  HOME: home,
  CLAUDE_CONFIG_DIR: home,
  ANTHROPIC_BASE_URL: mockUrl,
  ANTHROPIC_API_KEY: "sk-ant-fake",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "2",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
});
