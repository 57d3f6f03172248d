/** Stores for tests: in memory, or over a folder that is gone afterwards. */
import {
  Projection,
  Store,
  type Domain,
  type Projector,
  type StoreError,
  type StoreServices,
  type Synchronous,
} from "@tributary/store";
import { Effect, Layer } from "effect";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testProjector } from "./projector.ts";

export interface TestOptions {
  readonly domain?: Domain;
  readonly projector?: Projector;
  readonly cachedThreads?: number;
  readonly synchronous?: Synchronous;
}

export type StoreLayer = (options?: TestOptions) => Layer.Layer<StoreServices, StoreError>;

const projection = (options: TestOptions) => Layer.succeed(Projection, options.projector ?? testProjector);

/** An empty folder, removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tributary-store-"))),
  (dir) => Effect.sync(() => rmSync(dir, { recursive: true, force: true })),
);

/** A store over this folder, which stays. */
export const storeIn = (dir: string, options: TestOptions = {}): Layer.Layer<StoreServices, StoreError> =>
  Store.layer({ dir, ...options }).pipe(Layer.provide(projection(options)));

/** Without waiting for the disk, which is not what the shared suite is about. */
export const folderStore: StoreLayer = (options = {}) =>
  Layer.unwrap(Effect.map(temporaryFolder, (dir) => storeIn(dir, { synchronous: "normal", ...options })));

export const memoryStore: StoreLayer = (options = {}) =>
  Store.layerMemory(options).pipe(Layer.provide(projection(options)));
