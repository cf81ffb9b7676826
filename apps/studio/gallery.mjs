/* Makes the studio's gallery from gallery/gallery.yaml and the scenes it names.
 *
 *   node gallery.mjs OUT           OUT/gallery.json, and the pictures in OUT/gallery/
 *   node gallery.mjs --inline      the same JSON on standard output, with pictures as data URLs: for one file
 *   node gallery.mjs --count FIRN  asks a built firn for numbers of particles and steps: gallery/counts.json
 *   node gallery.mjs --pictures    gallery/NAME.jpg from doc/gallery (needs ImageMagick)
 *
 * A page cannot read other files, so `include` is resolved here, as src/scene/yaml.c does it. */
import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Document, isMap, isSeq, parse, parseDocument} from 'yaml';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, 'gallery'), root = join(here, '../..');
const MOST_PICTURE = 12 << 10; /* bytes */

/* Entries that `into` does not have come from `from`; maps are merged, and lists of an included file come first. */
function merge(into, from) {
  for (const pair of from.items) {
    const mine = into.items.find(p => p.key.value === pair.key.value);
    if (!mine) into.items.push(pair);
    else if (isMap(mine.value) && isMap(pair.value)) merge(mine.value, pair.value);
    else if (isSeq(mine.value) && isSeq(pair.value)) mine.value.items.unshift(...pair.value.items);
  }
}

function load(path) {
  const document = parseDocument(readFileSync(path, 'utf8'));
  if (document.errors.length) throw new Error(`${path}: ${document.errors[0].message}`);
  const include = document.toJS().include;
  for (const name of include === undefined ? [] : [].concat(include)) {
    merge(document.contents, load(join(dirname(path), name)).contents);
  }
  document.delete('include');
  return document;
}

/* Keys in the order in which scenes have them, so that merged ones read alike. */
const ORDER = ['firn', 'name', 'dimension', 'up', 'resolution', 'final_resolution', 'frames', 'simulation', 'heat', 'forces',
  'domain', 'materials', 'objects', 'contacts', 'colliders', 'sinks', 'camera', 'light', 'statistics', 'output'];

/* A scene's text for the page: in one piece, at its resolution there, and without what its first lines
 * say of numbers and times at another. */
export function sceneText(name, resolution) {
  const path = join(root, 'scenes', `${name}.yaml`);
  let text = readFileSync(path, 'utf8');
  if (/^include:/m.test(text)) {
    const document = load(path);
    const place = p => (ORDER.indexOf(p.key.value) + 1 || ORDER.length + 1);
    document.contents.items.sort((a, b) => place(a) - place(b));
    const plain = new Document(document.contents);
    for (const pair of plain.contents.items) {
      delete pair.key.commentBefore;
      delete pair.key.spaceBefore;
    }
    const comment = text.match(/^(#.*\n)*/)[0];
    text = comment + plain.toString({flowCollectionPadding: false, lineWidth: 0});
  }
  text = text.replace(/^(#.*\n)+/, lines => lines.split('\n').filter(
    l => !/\d particles|firn (run|render|sweep) |--set /.test(l)).join('\n'));
  return resolution ? text.replace(/^resolution:.*$/m, `resolution: ${resolution}`) : text;
}

function entries() {
  return parse(readFileSync(join(folder, 'gallery.yaml'), 'utf8'));
}

function own(text) {
  return parse(text).resolution;
}

function gallery(picture) {
  const counts = JSON.parse(readFileSync(join(folder, 'counts.json'), 'utf8'));
  return entries().map(e => {
    const text = sceneText(e.scene, e.live), tree = parse(text);
    const count = resolution => ({resolution, ...counts[`${e.scene}@${resolution}`]});
    const fps = tree.frames?.fps ?? 24, first = tree.frames?.start ?? 1;
    return {
      id: e.scene, title: e.title, text: e.text,
      kinds: tree.dimension === 2 ? [...e.kinds, '2d'] : e.kinds,
      dimension: tree.dimension ?? 3,
      seconds: ((tree.frames?.end ?? 24) - first) / fps,
      live: count(tree.resolution), ...(e.full ? {full: count(e.full)} : {}),
      picture: picture(e.picture ?? e.scene), scene: text,
    };
  });
}

/* ---- what the script does ---- */

function write(out) {
  mkdirSync(join(out, 'gallery'), {recursive: true});
  const all = gallery(name => {
    copyFileSync(join(folder, `${name}.jpg`), join(out, 'gallery', `${name}.jpg`));
    return `gallery/${name}.jpg`;
  });
  writeFileSync(join(out, 'gallery.json'), JSON.stringify(all));
}

function writeInline() {
  process.stdout.write(JSON.stringify(gallery(name =>
    `data:image/jpeg;base64,${readFileSync(join(folder, `${name}.jpg`)).toString('base64')}`)));
}

function plan(firn, name, resolution) {
  const path = join(root, 'scenes', `${name}.yaml`);
  const said = execFileSync(firn, ['run', path, '--plan', '--set', `resolution=${resolution}`],
    {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']});
  const particles = said.match(/^particles +([\d]+)(?:, ([\d]+) at the end)?/m);
  const substeps = said.match(/^substeps .*; (\d+) at the pace/m);
  if (!particles || !substeps) throw new Error(`${name}: the plan has no numbers:\n${said}`);
  return {particles: +particles[1], ...(particles[2] ? {end: +particles[2]} : {}), substeps: +substeps[1]};
}

function count(firn) {
  const counts = {};
  for (const e of entries()) {
    for (const resolution of new Set([e.live ?? own(sceneText(e.scene)), ...(e.full ? [e.full] : [])])) {
      counts[`${e.scene}@${resolution}`] = plan(firn, e.scene, resolution);
      console.error(`${e.scene} ${resolution} ${JSON.stringify(counts[`${e.scene}@${resolution}`])}`);
    }
  }
  writeFileSync(join(folder, 'counts.json'),
    '{\n' + Object.entries(counts).map(([k, v]) => `  ${JSON.stringify(k)}: ${JSON.stringify(v)}`).join(',\n') + '\n}\n');
}

function pictures() {
  for (const scene of new Set(entries().map(e => e.picture ?? e.scene))) {
    const to = join(folder, `${scene}.jpg`);
    for (let quality = 84; quality > 40; quality -= 4) {
      execFileSync('convert', [join(root, 'doc/gallery', `${scene}.png`), '-strip', '-resize', '384x216',
        '-sampling-factor', '4:2:0', '-interlace', 'none', '-quality', `${quality}`, to]);
      if (statSync(to).size <= MOST_PICTURE) break;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what, which] = process.argv.slice(2);
  if (what === '--inline') writeInline();
  else if (what === '--count' && which) count(which);
  else if (what === '--pictures') pictures();
  else if (what && !what.startsWith('-')) write(what);
  else {
    console.error('usage: node gallery.mjs OUT | --inline | --count FIRN | --pictures');
    process.exitCode = 2;
  }
}
