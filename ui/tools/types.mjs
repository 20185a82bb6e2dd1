// Makes src/api/schema.ts from the OpenAPI document of the server: the shapes, not the routes, which are in queries.ts.
// `--check` only compares, and fails if they differ.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const DOCUMENT = new URL("../../docs/openapi.json", import.meta.url);
const TARGET = new URL("../src/api/schema.ts", import.meta.url);
const HEADER = "// Generated from docs/openapi.json by `npm run types`. Do not edit.\n\n";

const document = { ...JSON.parse(await readFile(DOCUMENT, "utf8")), paths: {} };
// Objects that the document leaves open are of unknown content, not empty.
const made = HEADER + astToString(await openapiTS(document, { emptyObjectsUnknown: true }));

if (process.argv.includes("--check")) {
  const kept = await readFile(TARGET, "utf8").catch(() => "");
  if (kept !== made) {
    console.error("src/api/schema.ts does not match docs/openapi.json. Run `npm run types` in ui/.");
    process.exitCode = 1;
  }
} else {
  await writeFile(TARGET, made);
}
