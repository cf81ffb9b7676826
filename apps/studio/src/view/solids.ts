/* Colliders as lit solids on the graphics card. */

import type {Vec3} from '../protocol.ts';
import {Buffer} from './gl.ts';
import type {Mat4} from './math.ts';
import type {Form} from './shapes.ts';

type Solid = {array: WebGLVertexArrayObject; buffers: WebGLBuffer[]; count: number; model: Mat4; color: Vec3 | null};

export class Solids {
  readonly #gl: WebGL2RenderingContext;
  #solids = new Map<string, Solid>();

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
  }

  get count(): number {
    return this.#solids.size;
  }

  set(name: string, form: Form, model: Mat4, color: Vec3 | null): void {
    const gl = this.#gl;
    this.remove(name);
    const array = gl.createVertexArray()!, points = new Buffer(gl), normals = new Buffer(gl);
    const triangles = new Buffer(gl, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindVertexArray(array);
    points.set(form.points);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);
    if (form.normals) {
      normals.set(form.normals);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 12, 0);
    }
    triangles.set(form.triangles);
    gl.bindVertexArray(null);
    const buffers = [points.buffer, normals.buffer, triangles.buffer];
    this.#solids.set(name, {array, buffers, count: form.triangles.length, model, color});
  }

  place(name: string, model: Mat4): void {
    const s = this.#solids.get(name);
    if (s) s.model = model;
  }

  remove(name: string): void {
    const s = this.#solids.get(name);
    if (!s) return;
    this.#gl.deleteVertexArray(s.array);
    for (const b of s.buffers) this.#gl.deleteBuffer(b);
    this.#solids.delete(name);
  }

  clear(): void {
    for (const name of [...this.#solids.keys()]) this.remove(name);
  }

  draw(before: (model: Mat4, color: Vec3 | null) => void): void {
    const gl = this.#gl;
    for (const s of this.#solids.values()) {
      before(s.model, s.color);
      gl.bindVertexArray(s.array);
      gl.vertexAttrib3f(1, 0, 0, 0);
      gl.drawElements(gl.TRIANGLES, s.count, gl.UNSIGNED_INT, 0);
    }
  }
}
