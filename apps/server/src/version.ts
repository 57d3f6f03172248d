/** What `GET /version` and `tributary --version` say. */
import manifest from "../package.json" with { type: "json" };

export const version: string = manifest.version;

/** Raised when a client that knows an older one would misread something. */
export const protocol = 1;

/** The oldest client that this server serves. */
export const minimalClient = "0.1.0";
