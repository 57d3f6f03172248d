/**
 * Serves this folder and the built module on a port of its own: `node packages/client/example/serve.mjs [port]`.
 * A Tributary server lets pages of another origin call it when its settings name the origin.
 */
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const files = new Map([
  ["/example/", "index.html"],
  ["/example/app.js", "app.js"],
  ["/example/rows.js", "rows.js"],
  ["/example/style.css", "style.css"],
  ["/dist/client.js", "../dist/client.js"],
  ["/dist/reducer.js", "../dist/reducer.js"],
]);
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css" };

const server = createServer(async (request, response) => {
  const path = new URL(request.url ?? "/", "http://localhost").pathname;
  const file = files.get(path);
  if (path === "/") response.writeHead(302, { location: "/example/" }).end();
  else if (file === undefined) response.writeHead(404).end();
  else {
    try {
      const text = await readFile(fileURLToPath(new URL(file, import.meta.url)));
      response.writeHead(200, { "content-type": types[extname(file)], "cache-control": "no-store" }).end(text);
    } catch {
      response.writeHead(404).end("Build the module first: npm run build -w @tributary/client\n");
    }
  }
});

server.listen(Number(process.argv[2] ?? 5173), "127.0.0.1", () => {
  const { port } = server.address();
  const origin = `http://127.0.0.1:${port}`;
  process.stdout.write(
    `${origin}/example/\nThe server must allow it; in config.json of its data folder:\n` +
      `  "settings": { "allowedOrigins": ["${origin}"] }\n`,
  );
});
