/* Bundles and runs the unit tests: node test/unit/run.mjs [NAME...]. Those that compare with the program need FIRN to
 * name it, or build/firn; without it they are skipped. */
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url)), names = process.argv.slice(2);
const tests = readdirSync(here).filter(f => f.endsWith('.test.ts') && (!names.length || names.some(n => f.startsWith(n))));
const out = mkdtempSync(join(tmpdir(), 'firn-unit-'));
try {
  await build({entryPoints: tests.map(t => join(here, t)), outdir: out, bundle: true, platform: 'browser', external: ['node:*'], format: 'esm',
    outExtension: {'.js': '.mjs'}, sourcemap: 'inline', logLevel: 'warning'});
  const files = tests.map(t => join(out, `${basename(t, '.ts')}.mjs`));
  const {status} = spawnSync(process.execPath, ['--enable-source-maps', '--test', ...files],
    {stdio: 'inherit', env: {...process.env, FIRN_ROOT: join(here, '../../../..')}});
  process.exitCode = status ?? 1;
} finally {
  rmSync(out, {recursive: true});
}
