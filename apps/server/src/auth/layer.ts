/** Everything that decides who is let in, over one data folder. */
import { Layer } from "effect";
import { Tokens } from "../http/Tokens.ts";
import { Attempts } from "./Attempts.ts";
import { Audit } from "./Audit.ts";
import { AuthFile } from "./auth-file.ts";
import { Cookies } from "./Cookies.ts";
import { Devices } from "./Devices.ts";
import { Pairings } from "./Pairings.ts";

const parts = (dir: string) =>
  Pairings.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Devices.layer, Cookies.layer, Audit.layer(dir), Attempts.layer)),
    Layer.provide(AuthFile.layer(dir)),
  );

/** For a server: tokens are asked for. To be built once the data folder is held, for it writes there. */
export const authLayer = (dir: string) => Tokens.layer(dir).pipe(Layer.provideMerge(parts(dir)));

/** For a caller inside this process: it is the owner. */
export const authLayerOwner = (dir: string) => Layer.mergeAll(Tokens.layerOwner, parts(dir));
