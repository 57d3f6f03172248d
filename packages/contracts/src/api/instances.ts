/** Configured runtimes: what is installed, what it can do, what it refuses. */
import { Schema } from "effect";
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api";
import { Installation, InstanceConfig } from "../adapter.ts";
import { Id } from "../ids.ts";
import { opt } from "../json.ts";
import { Authorization, RequiredScope } from "./access.ts";
import { BadRequest, Internal, NotFound, PayloadTooLarge, Unavailable, UnsupportedMediaType } from "./problems.ts";
import { omit } from "./shared.ts";

export const InstanceView = Schema.Struct({
  ...omit(InstanceConfig.fields, ["env"]),
  /** Names only: values are secrets (I16). */
  env: Schema.Array(Schema.String),
  /** Whether it stands in the configuration file; others are runtimes that were found on the path. */
  configured: Schema.Boolean,
  installation: Installation,
  observedAt: Schema.String,
}).annotate({ identifier: "Instance" });
export type InstanceView = typeof InstanceView.Type;

const params = { instanceId: Id };
const readErrors = [NotFound, Internal, Unavailable] as const;
const writeErrors = [BadRequest, NotFound, PayloadTooLarge, UnsupportedMediaType, Internal] as const;
const { id: _id, runtime, ...rest } = InstanceConfig.fields;

export const InstancesApi = HttpApiGroup.make("instances")
  .add(
    HttpApiEndpoint.get("list", "/instances", {
      success: Schema.Struct({ instances: Schema.Array(InstanceView) }),
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.post("create", "/instances", {
      payload: InstanceConfig,
      success: InstanceView,
      error: writeErrors,
    }).annotate(RequiredScope, "admin"),
    HttpApiEndpoint.get("get", "/instances/:instanceId", {
      params,
      success: InstanceView,
      error: readErrors,
    }).annotate(RequiredScope, "observe"),
    HttpApiEndpoint.patch("update", "/instances/:instanceId", {
      params,
      /** Fields replace; `env` replaces the whole. */
      payload: Schema.Struct({ runtime: opt(runtime), ...rest }),
      success: InstanceView,
      error: writeErrors,
    }).annotate(RequiredScope, "admin"),
    HttpApiEndpoint.delete("remove", "/instances/:instanceId", {
      params,
      success: Schema.Struct({ instanceId: Id }),
      error: writeErrors,
    }).annotate(RequiredScope, "admin"),
  )
  .middleware(Authorization);
