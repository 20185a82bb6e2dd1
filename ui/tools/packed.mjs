// Compresses the scripts and styles of a built page, once, and leaves only that: the server carries them inside and
// sends them as they are. Whoever does not take gzip is given them unpacked by the server.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const folder = new URL("../dist/assets/", import.meta.url);

for (const name of readdirSync(folder).filter((name) => /\.(js|css)$/.test(name))) {
  const file = new URL(name, folder);
  writeFileSync(new URL(`${name}.gz`, folder), gzipSync(readFileSync(file), { level: 9 }));
  rmSync(file);
}
