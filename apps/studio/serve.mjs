/* Serves a folder on this machine alone: node serve.mjs FOLDER [PORT]. Takes the next free port from 8080
 * on. The headers let the page have threads. */
import {createServer} from 'node:http';
import {readFile, stat} from 'node:fs/promises';
import {extname, join, normalize, resolve, sep} from 'node:path';
import {constants, brotliCompressSync, gzipSync} from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.json': 'application/json', '.wasm': 'application/wasm', '.jpg': 'image/jpeg', '.png': 'image/png',
  '.svg': 'image/svg+xml', '.yaml': 'text/plain; charset=utf-8', '.txt': 'text/plain; charset=utf-8',
};
const LEAST_PACKED = 1024; /* bytes */

const folder = resolve(process.argv[2] ?? '.');
const first = Number(process.argv[3] ?? 8080);
const asked = process.argv[3] !== undefined;
const packed = new Map(); /* by encoding and path: the file's time and its bytes */

function pack(encoding, path, time, bytes) {
  const key = `${encoding} ${path}`, known = packed.get(key);
  if (known?.time === time) return known.bytes;
  const made = encoding === 'br'
    ? brotliCompressSync(bytes, {params: {[constants.BROTLI_PARAM_QUALITY]: 9}}) : gzipSync(bytes, {level: 9});
  packed.set(key, {time, bytes: made});
  return made;
}

async function answer(request, response) {
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-cache');
  const refuse = code => response.writeHead(code, {'Content-Type': 'text/plain'}).end(`${code}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
  /* A page elsewhere must not read this one by a name of its own for this address. */
  if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(request.headers.host ?? '')) return refuse(403);
  let path;
  try {
    path = normalize(join(folder, decodeURIComponent(new URL(request.url, 'http://x').pathname)));
  } catch {
    return refuse(400);
  }
  if (path !== folder && !path.startsWith(folder + sep)) return refuse(404);
  try {
    if ((await stat(path)).isDirectory()) path = join(path, 'index.html');
    const about = await stat(path);
    let bytes = await readFile(path);
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    const encoding = ['br', 'gzip'].find(e => new RegExp(`\\b${e}\\b`).test(request.headers['accept-encoding'] ?? ''));
    if (encoding && bytes.length >= LEAST_PACKED && !type.startsWith('image/')) {
      bytes = pack(encoding, path, about.mtimeMs, bytes);
      response.setHeader('Content-Encoding', encoding);
      response.setHeader('Vary', 'Accept-Encoding');
    }
    response.writeHead(200, {'Content-Type': type, 'Content-Length': bytes.length});
    response.end(request.method === 'HEAD' ? undefined : bytes);
  } catch (error) {
    refuse(error.code === 'ENOENT' ? 404 : 500);
  }
}

function listen(port) {
  const server = createServer((request, response) => void answer(request, response));
  server.on('error', error => {
    if (error.code === 'EADDRINUSE' && !asked && port < first + 100) return listen(port + 1);
    console.error(error.code === 'EADDRINUSE' ? `port ${port} is taken` : error.message);
    process.exitCode = 1;
  });
  server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
}

listen(first);
