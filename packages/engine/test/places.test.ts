import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, describe, it } from "@effect/vitest";
import { Effect } from "effect";
import { isUnder, Places, placeOf, placesLayer } from "../src/index.ts";

describe("places", () => {
  it("a folder is under a root by its parts, not by its letters", () => {
    assert.isTrue(isUnder("/p", "/p"));
    assert.isTrue(isUnder("/p", "/p/a/b"));
    assert.isTrue(isUnder("/", "/p"));
    assert.isTrue(isUnder("/p", "/p/..a"));
    assert.isFalse(isUnder("/p", "/pq"));
    assert.isFalse(isUnder("/p/a", "/p"));
    assert.isFalse(isUnder("/p/a", "/p/b"));
  });

  it("says why there is none", () => {
    assert.deepInclude(placeOf("/x", undefined, []), { refused: "cwd_missing" });
    assert.deepInclude(placeOf("/x", "/x", []), { refused: "cwd_outside_roots" });
  });

  it.effect("links are followed before anything is compared (I13, pain 25)", () =>
    Effect.gen(function* () {
      const base = realpathSync(mkdtempSync(join(tmpdir(), "tributary-places-")));
      mkdirSync(join(base, "root"));
      mkdirSync(join(base, "outside"));
      symlinkSync(join(base, "outside"), join(base, "root", "escape"));
      symlinkSync(join(base, "root"), join(base, "alias"));
      writeFileSync(join(base, "root", "file"), "");
      const { realFolder } = yield* Places;
      assert.strictEqual(yield* realFolder(join(base, "root", "escape")), join(base, "outside"));
      assert.strictEqual(yield* realFolder(join(base, "alias")), join(base, "root"));
      for (const wrong of [join(base, "none"), join(base, "root", "file"), "relative", `${base}\0`, ""])
        assert.isUndefined(yield* realFolder(wrong), wrong);
      const roots = [{ projectId: "P", root: join(base, "root") }];
      assert.deepInclude(placeOf("x", yield* realFolder(join(base, "root", "escape")), roots), {
        refused: "cwd_outside_roots",
      });
    }).pipe(Effect.provide(placesLayer(Effect.succeed([])))),
  );
});
