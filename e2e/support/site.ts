// The front end of `front-end/`, bundled as its makers would, on a port of its own: another origin than Hotseat's.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { build } from "esbuild";

const FOLDER = join(import.meta.dirname, "../front-end");

export interface Site {
  origin: string;
  stop: () => void;
}

export async function startSite(): Promise<Site> {
  const { outputFiles } = await build({
    entryPoints: [join(FOLDER, "main.ts")],
    bundle: true,
    format: "esm",
    write: false,
  });
  const files: Record<string, [string, string]> = {
    "/": ["text/html", readFileSync(join(FOLDER, "index.html"), "utf8")],
    "/main.js": ["text/javascript", outputFiles[0]?.text ?? ""],
  };
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://site").pathname;
    const [type, body] = files[path] ?? ["text/plain", ""];
    response.writeHead(path in files ? 200 : 404, { "content-type": type });
    response.end(body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, stop };
}
