/** For programs that embed Tributary instead of running it as a server. */
export { Configuration } from "./config/Configuration.ts";
export { locateDataFolder } from "./config/data-folder.ts";
export { Core, type CoreOptions } from "./core.ts";
export { openEmbedded, Tributary, type Embedded } from "./embedded.ts";
export type { InsideError, InsideOptions } from "./inside.ts";
export { makeApp } from "./http/app.ts";
export { Closing } from "./http/Closing.ts";
export { EventPages } from "./http/EventPages.ts";
export { serveHttp } from "./http/listen.ts";
export { owner, Tokens } from "./http/Tokens.ts";
export { Instances } from "./Instances.ts";
export type { Port } from "./rpc/ports.ts";
