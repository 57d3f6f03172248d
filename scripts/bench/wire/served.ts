import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startServer, type TestServer } from "@tributary/server/test-support";
import { Effect } from "effect";
import { inScratch } from "../runs.ts";

/** Uses a real server over an empty data folder, with `work` registered as a project. */
export const served = <A>(
  parent: string,
  durability: "full" | "normal",
  use: (server: TestServer) => Promise<A>,
): Promise<A> =>
  inScratch(parent, (base) => {
    const folders = { data: join(base, "data"), work: join(base, "work") };
    mkdirSync(folders.work);
    return Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer(folders, { durability });
          return yield* Effect.promise(async () => {
            await expectOk(server.call("/projects", { body: { projectId: "P", root: folders.work } }));
            return use(server);
          });
        }),
      ),
    );
  });

/** The body of an answer, which has to be a good one. */
export const expectOk = async (answer: ReturnType<TestServer["call"]>) => {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
};
