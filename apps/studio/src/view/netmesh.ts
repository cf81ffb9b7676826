/* A live mesh on the graphics card. */

import {Buffer} from './gl.ts';
import type {Nets} from './nets.ts';

export class NetMesh {
  readonly #gl: WebGL2RenderingContext;
  readonly #array: WebGLVertexArrayObject;
  readonly #points: Buffer;
  readonly #tints: Buffer;
  readonly #kelvins: Buffer;
  readonly #triangles: Buffer;
  #count = 0;

  constructor(gl: WebGL2RenderingContext) {
    this.#gl = gl;
    this.#array = gl.createVertexArray()!;
    gl.bindVertexArray(this.#array);
    [this.#points, this.#tints, this.#kelvins] = [new Buffer(gl), new Buffer(gl), new Buffer(gl)];
    this.#triangles = new Buffer(gl, gl.ELEMENT_ARRAY_BUFFER);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#points.buffer);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#tints.buffer);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 4, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#kelvins.buffer);
    gl.vertexAttribPointer(2, 1, gl.FLOAT, false, 4, 0);
    for (const i of [0, 1, 2]) gl.enableVertexAttribArray(i);
    gl.bindVertexArray(null);
  }

  set(nets: Nets, tints: Uint8Array, kelvins: Float32Array): void {
    const gl = this.#gl;
    gl.bindVertexArray(this.#array);
    this.#points.set(nets.points);
    this.#tints.set(tints);
    this.#kelvins.set(kelvins);
    this.#triangles.set(nets.triangles);
    this.#count = nets.triangles.length;
    gl.bindVertexArray(null);
  }

  draw(): void {
    if (!this.#count) return;
    this.#gl.bindVertexArray(this.#array);
    this.#gl.drawElements(this.#gl.TRIANGLES, this.#count, this.#gl.UNSIGNED_INT, 0);
  }
}
