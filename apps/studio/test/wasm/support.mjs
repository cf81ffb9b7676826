/* For tests in Node.js: the page's modules, and the engine as its Worker has it. */
import {mkdtempSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {buildSync} from 'esbuild';

export const studio = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const root = join(studio, '../..');
export const scratch = mkdtempSync(join(tmpdir(), 'firn-'));
const require = createRequire(import.meta.url);

/* A module of src, with what it imports. */
export function load(name) {
  const outfile = join(scratch, `${name}.cjs`);
  buildSync({entryPoints: [join(studio, 'src', `${name}.ts`)], outfile, bundle: true, format: 'cjs', platform: 'node', logLevel: 'error'});
  return require(outfile);
}

/* Paths of the YAML files of a folder. */
export function scenesOf(folder) {
  return readdirSync(join(root, folder)).filter(n => n.endsWith('.yaml')).sort().map(n => join(root, folder, n));
}

const {encode} = load('encode');

/* An engine. `events` and `bytes` hold what it has sent. */
export async function createEngine(threads = 1) {
  const script = join(root, threads > 1 ? 'build/wasm_threads/firn_threads.js' : 'build/wasm/firn.js');
  const events = [], bytes = [];
  const module = await require(script)({
    threads, encode,
    send: text => events.push(JSON.parse(text)),
    sendBytes: b => bytes.push(b),
    mainScriptUrlOrBlob: script,
    wasmBinary: readFileSync(script.replace(/js$/, 'wasm')), /* its script would fetch a path */
  });
  const lend = (data, use) => {
    const at = module._malloc(data.length + 1);
    module.HEAPU8.set(data, at);
    module.HEAPU8[at + data.length] = 0;
    const result = use(at, data.length);
    module._free(at);
    return result;
  };
  const utf8 = text => new TextEncoder().encode(text);
  if (module._firn_web_start(threads)) throw new Error('the engine did not start');
  const engine = {
    events, bytes, module,
    turn: seconds => module._firn_web_turn(seconds),
    put: (path, data) => lend(utf8(path), p => lend(data, (d, size) => module._firn_web_put(p, d, size))),
    /* Pictures count as shown at once. */
    send: command => lend(utf8(JSON.stringify(command)), (at, size) => module._firn_web_receive(at, size)),
    last: kind => events.findLast(e => e.event === kind),
    /* What the command is answered by. */
    ask(command, kind) {
      const before = events.length;
      engine.send(command);
      for (let i = 0; i < 100000; i++) {
        const found = events.slice(before).find(e => e.event === kind || e.event === 'error');
        if (found) return found;
        for (const e of events.slice(before)) if (e.event === 'frame') engine.send({do: 'shown', picture: e.picture});
        module._firn_web_turn(1);
      }
      throw new Error(`no answer to ${command.do}`);
    },
    hash: () => engine.ask({do: 'hash', token: 1}, 'hash').hash,
    /* Computes the next frame; its event. */
    step() {
      const before = events.length;
      engine.send({do: 'step', unit: 'frame'});
      for (let i = 0; i < 100000; i++) {
        const found = events.slice(before).find(e => e.event === 'frame' && e.part === 0 || e.event === 'error');
        if (found) {
          if (found.event === 'frame') engine.send({do: 'shown', picture: found.picture});
          return found;
        }
        module._firn_web_turn(1);
      }
      throw new Error('no frame');
    },
  };
  return engine;
}
