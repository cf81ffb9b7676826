import assert from 'node:assert/strict';
import test from 'node:test';
import {meshForm} from '../../src/view/shapes.ts';

/* Two squares that meet at x = 0; the one at x > 0 is turned up by an angle. */
function fold(degrees: number): {vertices: Float32Array; triangles: Uint32Array} {
  const c = Math.cos((degrees * Math.PI) / 180), s = Math.sin((degrees * Math.PI) / 180);
  return {
    vertices: new Float32Array([-1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, 1, c, s, 0, c, s, 1]),
    triangles: new Uint32Array([0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4]),
  };
}

function normalAt(degrees: number, corner: number): number[] {
  const {vertices, triangles} = fold(degrees);
  return [...meshForm(vertices, triangles).normals!.subarray(3 * corner, 3 * corner + 3)];
}

function near(a: number[], b: number[]): void {
  a.forEach((x, i) => assert.ok(Math.abs(x - b[i]!) < 1e-6, `${a} and ${b}`));
}

test('normals of a mesh are smooth across a shallow edge and sharp across a crease', () => {
  near(normalAt(0, 0), [0, 1, 0]);
  near(normalAt(90, 2), [0, 1, 0]);
  near(normalAt(90, 6), [-1, 0, 0]);
  /* At a vertex with one triangle of the left and two of the right: their mean. */
  const c = Math.cos(Math.PI / 6), s = 0.5, l = Math.hypot(2 * s, 1 + 2 * c);
  near(normalAt(30, 4), normalAt(30, 7));
  near(normalAt(30, 4), [(-2 * s) / l, (1 + 2 * c) / l, 0]);
});

test('a triangle without area gives no NaN', () => {
  const {normals} = meshForm(new Float32Array(9), new Uint32Array([0, 1, 2]));
  assert.deepEqual([...normals!], Array(9).fill(0));
});

test('the form of a mesh is made once', () => {
  const {vertices, triangles} = fold(10);
  assert.equal(meshForm(vertices, triangles), meshForm(vertices, triangles));
});
