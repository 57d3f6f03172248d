import "effect/schema/SchemaJITCompiler/enable";
import { main } from "./cli/main.ts";

main();
