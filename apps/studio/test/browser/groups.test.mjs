/* Groups, copies, keys and shapes of several parts: the outline shows them, panels and drags edit them, and what is
 * saved is the same text but for that. */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {openScene, studio, step, until, get} from './studio.mjs';

const s = studio({width: 1280, height: 900}), {claim, press, button} = s;

const TEXT = `# a cup and what falls into it
firn: 1
name: cup
resolution: 0.05
frames: {end: 24}
variables: {width: 50 cm} # of the cup
materials:
  jelly: {preset: jelly_soft}
  red: {preset: jelly_hard}
groups:
  - name: stand # all of it
    translate: [0, 0.6, 0]
    rotate: [0, 30, 0]
    scale: 1.2
  - name: cup
    parent: stand
    keys: {0: {}, 1: {rotate: [0, 0, 60]}} # it tilts
    interpolation: smooth
colliders:
  - {name: ground, shape: {plane: {}}} # below
  - &wall {name: left, group: cup, shape: {box: {center: [-$width / 2, 0, 0], size: [0.06, 0.5, 0.5]}}}
  - {<<: *wall, name: right, translate: [$width, 0, 0]}
  - name: post
    shape: {box: {size: [$width / 5, 0.4, 0.1]}}
    translate: [0, 0.2, 0]
    instances: {ring: {count: 4, radius: 1.2}} # around it
objects:
  - name: ball
    material: jelly
    shape: {sphere: {radius: 0.1}}
    instances:
      grid: {count: [2, 1, 2], spacing: [0.3, 0.3, 0.3], center: [0, 1.6, 0]}
`;

const app = (body, ...arguments_) => s.page.evaluate(`(${body})(window.firn.app, ...${JSON.stringify(arguments_)})`);
const text = () => app(a => a.doc.text);
const select = name => app((a, n) => a.selectNamed(n), name);
const item = name => s.page.locator('.item', {has: s.page.getByText(name, {exact: true})}).first();
const row = name => s.page.locator(`.right .row[data-p="${name}"]`).first();

/* The lines that a text has and another has not. */
const fresh = (before, after) => after.split('\n').filter(l => !before.split('\n').includes(l));

/* Opens the scene, does something, and gives the lines that are new. */
async function edit(act, from = TEXT) {
  await openScene(s.page, from);
  await act();
  await until(s.page, t => window.firn.app.doc.text !== t, from);
  assert.equal(await get(s.page, 'error'), null);
  return fresh(from, await text());
}

async function type(field, value) {
  await field.click();
  await field.fill(value);
  await field.press('Enter');
}

claim('the outline shows groups as a tree, with members below, and how many copies there are', async page => {
  await openScene(page, TEXT);
  const rows = await page.locator('.item[data-key]').evaluateAll(all => all.map(r =>
    `${'  '.repeat(r.ariaLevel - 1)}${r.querySelector('.t').textContent}${r.querySelector('.n')?.textContent ?? ''}`));
  assert.deepEqual(rows, ['Scene', 'stand', '  cup', '    left', '    right', 'ball\u00d7 4', 'ground', 'post\u00d7 4', 'jelly', 'red']);
  await item('cup').locator('.fold').click();
  await until(page, () => !document.querySelector('.item[data-key="colliders.1"]'));
  await select('right'); /* opens what it is in */
  await until(page, () => document.querySelector('.item[data-key="colliders.2"][aria-selected=true]'));
  await item('right').focus();
  await press('ArrowLeft');
  assert.equal(await get(page, 'selection'), 'groups.1');
  await press('ArrowLeft');
  await until(page, () => !document.querySelector('.item[data-key="colliders.2"]'));
});

claim('a copy that is clicked selects its entry, object and collider alike', async page => {
  await openScene(page, TEXT);
  for (const key of ['objects.0', 'colliders.3']) {
    const at = await page.evaluate(wanted => {
      const {view} = window.firn, box = document.querySelector('canvas').getBoundingClientRect(), stage = view.stage;
      for (let y = stage.y + 20; y < stage.y + stage.height - 120; y += 6)
        for (let x = stage.x + 20; x < stage.x + stage.width - 20; x += 6)
          if (view.pickShape(x, y) === wanted) return [x + box.left, y + box.top];
      return null;
    }, key);
    assert.ok(at, `no copy of ${key} is in sight`);
    await page.mouse.click(...at);
    assert.equal(await get(page, 'selection'), key);
    await press('Escape');
  }
});

claim('a group is moved, scaled and keyed by its rows', async page => {
  assert.deepEqual(await edit(async () => {
    await select('stand');
    await type(row('translate').locator('input').nth(1), '0.8');
  }), ['    translate: [0, 0.8, 0]']);
  assert.deepEqual(await edit(async () => {
    await select('stand');
    await type(row('scale').locator('.num input'), '1.5');
  }), ['    scale: 1.5']);
  assert.deepEqual(await edit(async () => {
    await select('cup');
    await type(page.locator('.key').nth(1).locator('.row[data-p=rotate] input').nth(2), '90');
  }), ['    keys: {0: {}, 1: {rotate: [0, 0, 90]}} # it tilts']);
  assert.deepEqual(await edit(async () => {
    await select('cup');
    await type(page.locator('.key').nth(1).locator('.key-h input'), '0.5');
  }), ['    keys: {0: {}, 0.5: {rotate: [0, 0, 60]}} # it tilts']);
  assert.deepEqual(await edit(async () => {
    await select('cup');
    await page.locator('.key').nth(1).locator('[data-do=delete-key]').click();
  }), ['    keys: {0: {}} # it tilts']);
  assert.deepEqual(await edit(async () => {
    await select('cup');
    await page.locator('.right .row[data-p=parent] select').selectOption('');
  }), ['    translate: [0, 0.6, 0]', '    rotate: [0, 30, 0]'].filter(l => !TEXT.includes(l)));
});

claim('a key is added at the time on screen, with what holds there', async page => {
  await openScene(page, TEXT);
  await select('cup');
  await step(page, 6);
  const time = await app(a => a.shownTime());
  await page.locator('[data-do=add-key]').click();
  const [line] = fresh(TEXT, await text()), found = line.match(/keys: \{0: \{\}, ([\d.]+): \{rotate: \[0, 0, ([\d.]+)\]\}, 1:/);
  assert.ok(found, line);
  assert.ok(Math.abs(found[1] - time) < 1e-4);
  assert.ok(Math.abs(found[2] - 60 * time ** 2 * (3 - 2 * time)) < 1e-2, 'smooth');
  assert.equal(await page.locator('.key.now').count(), 1);
});

claim('a member of a moved, turned, scaled and tilting group follows the mouse', async page => {
  await openScene(page, TEXT);
  await step(page, 12);
  await select('left');
  const middle = () => page.evaluate(() => {
    const {app, view} = window.firn, r = document.querySelector('canvas').getBoundingClientRect();
    const [x, y] = view.project(app.handles().pivot);
    return [x + r.left, y + r.top, app.shownTime()];
  });
  const [x, y, time] = await middle();
  assert.ok(time > 0.4);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y - 40, {steps: 6});
  const [u, v] = await middle();
  await page.mouse.up();
  assert.ok(Math.hypot(u - x - 60, v - y + 40) < 2, `${u - x}, ${v - y}`);
  const [line] = fresh(TEXT, await text());
  assert.match(line, /^  - &wall \{name: left, group: cup, shape: \{box: \{center: \[-?[\d.]+, -?[\d.]+, -?[\d.]+\], size: \[0.06, 0.5, 0.5\]\}\}\}$/);
});

claim('copies are made, stand otherwise, vary by chance and go', async page => {
  assert.deepEqual(await edit(async () => {
    await select('post');
    await type(row('count').locator('.num input'), '6');
  }), ['    instances: {ring: {count: 6, radius: 1.2}} # around it']);
  await until(page, () => window.firn.app.state.get('scene').colliders.filter(c => c.entry === 3).length === 6);
  assert.equal(await item('post').locator('.n').innerText(), '\u00d7 6');
  assert.deepEqual(await edit(async () => {
    await select('ball');
    await type(row('count').locator('input').nth(1), '3');
  }), ['      grid: {count: [2, 3, 2], spacing: [0.3, 0.3, 0.3], center: [0, 1.6, 0]}']);
  assert.deepEqual(await edit(async () => {
    await select('ball');
    await page.locator('.right .sec[data-title=Copies] .row[data-p=kind] select').selectOption('ring');
  }), ['      ring: {count: 8, radius: 0.6}']);
  assert.deepEqual(await edit(async () => {
    await select('ball');
    await page.getByRole('button', {name: 'red', exact: true}).click();
  }), ['      materials: [red]']);
  assert.deepEqual(await edit(async () => {
    await select('ball');
    await type(page.locator('.right .sec[data-title=Copies] .row[data-p=rotate] input').nth(1), '90');
  }), ['      jitter: {rotate: [0, 90, 0]}']);
  assert.deepEqual(await edit(async () => {
    await select('post');
    await button('Remove the copies').click();
  }), []);
  assert.ok(!(await text()).includes('ring'));
  await page.locator('.right .sec[data-title=Copies] .sec-h > button').first().click();
  await button('Make copies').click();
  await page.getByRole('menuitem', {name: 'List'}).click();
  await until(page, () => window.firn.app.state.get('scene').colliders.filter(c => c.entry === 3).length === 2);
  await button('Add a copy').click();
  await until(page, () => window.firn.app.state.get('scene').colliders.filter(c => c.entry === 3).length === 3);
});

claim('friction gets keys, and one value again', async page => {
  assert.deepEqual(await edit(async () => {
    await select('ground');
    await row('friction').hover();
    await row('friction').locator('[data-do=key-value]').click();
  }), ['  - {name: ground, shape: {plane: {}}, friction: {keys: {0: 0.3}}} # below']);
  await step(page, 6);
  await page.locator('.keyed [data-do=add-key]').click();
  await type(page.locator('.keyed .key').nth(1).locator('.row .num input'), '0.8');
  assert.match(await text(), /friction: \{keys: \{0: 0.3, 0.25: 0.8\}\}\} # below/);
  await page.locator('[data-do=unkey]').click();
  assert.match(await text(), /friction: 0.3\} # below/);
});

claim('a thing is put into a new group and stays where it is', async page => {
  await openScene(page, TEXT);
  await page.locator('.sec[data-title=Groups]').getByRole('button', {name: 'Add a group'}).click();
  assert.equal(await get(page, 'selection'), 'groups.2');
  await type(row('translate').locator('input').nth(0), '1');
  await select('ground');
  await page.locator('.right .row[data-p=group] select').selectOption('group');
  const after = await text();
  assert.match(after, /- \{name: ground, shape: \{plane: \{point: \[-1, 0, 0\]\}\}, group: group\} # below/);
  await until(page, () => !window.firn.app.state.get('error'));
  await press('Control+z');
  await press('Control+z');
  await press('Control+z');
  assert.equal(await text(), TEXT);
});

claim('what is saved is the text with the values that were changed', async page => {
  await openScene(page, TEXT);
  await select('left');
  await type(page.locator('.right .row[data-p=size] input').nth(1), '0.6');
  await select('right');
  await type(page.locator('.right .row[data-p=position] input').nth(2), '0.1');
  const [download] = await Promise.all([page.waitForEvent('download'), press('Control+s')]);
  const saved = readFileSync(await download.path(), 'utf8');
  assert.deepEqual(fresh(TEXT, saved), [
    '  - &wall {name: left, group: cup, shape: {box: {center: [-$width / 2, 0, 0], size: [0.06, 0.6, 0.5]}}}',
    '  - {<<: *wall, name: right, translate: [$width, 0, 0.1]}',
  ]);
  await openScene(page, saved);
  assert.equal(await get(page, 'error'), null);
});

claim('an expression is shown with its number, and says what it is', async page => {
  await openScene(page, TEXT);
  await select('left');
  assert.equal(await row('position').locator('input').nth(0).inputValue(), '\u22120.25');
  await select('post');
  assert.equal(await row('size').locator('input').nth(0).inputValue(), '0.1');
  assert.equal(await row('size').locator('.formula').getAttribute('title'), '$width / 5, 0.4, 0.1');
});

claim('a shape of several parts shows them, and each is edited', async page => {
  const combined = TEXT.replace('shape: {sphere: {radius: 0.1}}',
    'shape: {difference: [{sphere: {radius: 0.1}}, {box: {size: [0.1, 0.1, 0.1]}, translate: [0, 0.05, 0]}], offset: 5 mm}');
  await openScene(page, combined);
  await item('minus box').click();
  await type(page.locator('.right .row[data-p=size] input').nth(0), '0.2');
  assert.deepEqual(fresh(combined, await text()), [
    '    shape: {difference: [{sphere: {radius: 0.1}}, {box: {size: [0.2, 0.1, 0.1]}, translate: [0, 0.05, 0]}], offset: 5 mm}']);
  await select('ball');
  await page.locator('.right .row[data-p=operator] select').selectOption('union');
  await button('Add a part').click();
  await page.getByRole('menuitem', {name: 'Capsule'}).click();
  assert.match(await text(), /union: \[\{sphere: .*\}, \{box: .*translate: \[0, 0.05, 0\]\}, \{capsule: /);
  assert.equal(await get(page, 'selection'), 'objects.0.shape.union.2');
  await press('Delete');
  assert.match(await text(), /union: \[\{sphere: [^[]*\}, \{box: .*translate: \[0, 0.05, 0\]\}\], offset: 5 mm/);
  assert.equal(await get(page, 'error'), null);
});
