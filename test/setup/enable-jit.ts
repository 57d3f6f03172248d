// What every process entry imports first; here for the tests.
import "effect/schema/SchemaJITCompiler/enable";
