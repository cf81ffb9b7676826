/* Puts the studio together: node build.mjs WASM THREADS OUT
 *   WASM     folder with firn.js and firn.wasm
 *   THREADS  folder with their twins for several threads
 *   OUT      gets the page's files, and studio.html: all of them in one, for one thread, that also runs
 *            from a disk without a server */
import {execFileSync} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {brotliCompressSync, gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [wasm, threads, out] = process.argv.slice(2);
if (!out) {
  console.error('usage: node build.mjs WASM THREADS OUT');
  process.exit(2);
}

async function bundle(name, entry) {
  await build({
    entryPoints: [join(here, 'src', entry)], outfile: join(out, name), bundle: true, minify: true, format: 'iife',
    target: ['es2022', 'chrome100', 'firefox114', 'safari16.4'], legalComments: 'none', logLevel: 'warning',
  });
}

const read = name => readFileSync(join(out, name), 'utf8');

/* Text that stands between script tags. */
const inScript = text => text.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');

function writeOneFile() {
  const packed = gzipSync(readFileSync(join(out, 'firn.wasm')), {level: 9}).toString('base64');
  /* In the Worker's own text the engine's script comes first, as importScripts would have it. */
  const worker = `${read('firn.js')}\nself.firnBinary="${packed}";\n${read('worker.js')}`;
  const gallery = execFileSync(process.execPath, [join(here, 'gallery.mjs'), '--inline'], {encoding: 'utf8', maxBuffer: 1 << 26});
  let page = readFileSync(join(here, 'index.html'), 'utf8');
  const put = (tag, text) => {
    if (!page.includes(tag)) throw new Error(`index.html has no ${tag}`);
    page = page.replace(tag, () => text);
  };
  put('<link rel="stylesheet" href="style.css">', `<style>\n${read('style.css')}</style>`);
  put('<script src="page.js"></script>',
    `<script type="text/plain" id="worker-text">${inScript(worker)}</script>\n` +
    `<script type="text/plain" id="files-worker">${inScript(read('files.js'))}</script>\n` +
    `<script type="application/json" id="gallery-data">${gallery.replace(/</g, '\\u003c')}</script>\n` +
    `<script>${inScript(read('page.js'))}</script>`);
  writeFileSync(join(out, 'studio.html'), page);
}

/* What the page asks for before it runs, and what it asks for instead with threads. */
function printSizes() {
  const first = ['index.html', 'style.css', 'page.js', 'worker.js', 'gallery.json'];
  const sets = {'one thread': [...first, 'firn.js', 'firn.wasm'],
    'threads': [...first, 'firn_threads.js', 'firn_threads.worker.js', 'firn_threads.wasm']};
  const kilo = bytes => `${(bytes / 1000).toFixed(0)} kB`.padStart(9);
  const sizes = new Map();
  console.log(`${'file'.padEnd(24)}${'plain'.padStart(9)}${'gzip -9'.padStart(9)}${'brotli'.padStart(9)}`);
  for (const name of new Set([...sets['one thread'], ...sets.threads])) {
    const bytes = readFileSync(join(out, name));
    sizes.set(name, [bytes.length, gzipSync(bytes, {level: 9}).length, brotliCompressSync(bytes).length]);
    console.log(name.padEnd(24) + sizes.get(name).map(kilo).join(''));
  }
  console.log('studio.html'.padEnd(24) + kilo(statSync(join(out, 'studio.html')).size));
  for (const [words, names] of Object.entries(sets)) {
    const sum = [0, 1, 2].map(i => names.reduce((all, n) => all + sizes.get(n)[i], 0));
    console.log(`first load, ${words}`.padEnd(24) + sum.map(kilo).join(''));
    if (sum[1] >= 1e6) {
      console.error(`the first load has ${sum[1]} bytes with gzip; it must stay below 1 MB`);
      process.exitCode = 1;
    }
  }
}

mkdirSync(out, {recursive: true});
await Promise.all([bundle('page.js', 'main.ts'), bundle('worker.js', 'worker.ts'), bundle('files.js', 'files/worker.ts')]);
/* uPlot's rules come out beside the page's script. */
const styles = [join(here, 'style.css'), join(out, 'page.css')].filter(existsSync);
writeFileSync(join(out, 'style.css'), styles.map(path => readFileSync(path, 'utf8')).join('\n'));
for (const name of ['firn.js', 'firn.wasm']) cpSync(join(wasm, name), join(out, name));
for (const name of ['firn_threads.js', 'firn_threads.worker.js', 'firn_threads.wasm']) cpSync(join(threads, name), join(out, name));
cpSync(join(here, 'index.html'), join(out, 'index.html'));
execFileSync(process.execPath, [join(here, 'gallery.mjs'), out], {stdio: 'inherit'});
writeOneFile();
printSizes();
