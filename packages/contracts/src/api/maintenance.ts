/** Care of the data folder. What takes long answers when it is done; everything else goes on meanwhile. */
import { Schema } from "effect";
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api";
import { Count, opt } from "../json.ts";
import { Authorization, RequiredScope } from "./access.ts";
import { BadRequest, Internal, PayloadTooLarge, Unavailable, UnsupportedMediaType } from "./problems.ts";

const errors = [BadRequest, PayloadTooLarge, UnsupportedMediaType, Internal, Unavailable] as const;

export const MaintenanceApi = HttpApiGroup.make("maintenance")
  .add(
    /** Makes all that lists and pages show anew from the log, then swaps it in. */
    HttpApiEndpoint.post("rebuild", "/maintenance/rebuild", {
      success: Schema.Struct({ sequence: Count }),
      error: errors,
    }).annotate(RequiredScope, "admin"),
    /** Copies the store into an empty folder of the server's machine. */
    HttpApiEndpoint.post("backup", "/maintenance/backup", {
      /** Absolute. */
      payload: Schema.Struct({ dir: Schema.String }),
      success: Schema.Struct({ dir: Schema.String }),
      error: errors,
    }).annotate(RequiredScope, "admin"),
    /** Reads everything; the server does little else meanwhile. */
    HttpApiEndpoint.get("check", "/maintenance/check", {
      success: Schema.Struct({
        /** What is wrong with the files, in words. */
        problems: Schema.Array(Schema.String),
        /** Where rows are not what the log says; `rebuild` corrects it. */
        differences: Schema.Array(Schema.Struct({ table: Schema.String, detail: Schema.String })),
      }),
      error: errors,
    }).annotate(RequiredScope, "admin"),
    /** Lets go of old journal records; what is not interpreted yet stays. */
    HttpApiEndpoint.post("prune", "/maintenance/prune", {
      payload: Schema.Struct({
        olderThanDays: opt(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
        maxBytes: opt(Count),
      }),
      success: Schema.Struct({ records: Count, bytes: Count }),
      error: errors,
    }).annotate(RequiredScope, "admin"),
  )
  .middleware(Authorization);
