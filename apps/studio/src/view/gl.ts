/* The few WebGL2 objects that the view is made of. All are remade after a lost context. */

export type Value = number | boolean | readonly number[] | Float32Array | WebGLTexture;

const SCREEN = `#version 300 es
void main() {
  vec2 p = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
  gl_Position = vec4(2.0 * p - 1.0, 0.99999, 1.0); /* behind everything but a cleared depth */
}`;
const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
`;

function compile(gl: WebGL2RenderingContext, kind: number, text: string): WebGLShader {
  const shader = gl.createShader(kind)!;
  gl.shaderSource(shader, text.startsWith('#version') ? text : HEAD + text);
  gl.compileShader(shader);
  return shader;
}

/* A linked pair of shaders. A sampler has the texture unit of its place among the samplers. */
export class Program {
  readonly #gl: WebGL2RenderingContext;
  readonly #program: WebGLProgram;
  readonly #set = new Map<string, (value: Value) => void>();

  /* Without a vertex shader: one for a triangle over the whole target. */
  constructor(gl: WebGL2RenderingContext, fragment: string, vertex: string = SCREEN) {
    this.#gl = gl;
    this.#program = gl.createProgram()!;
    const shaders = [compile(gl, gl.VERTEX_SHADER, vertex), compile(gl, gl.FRAGMENT_SHADER, fragment)];
    for (const s of shaders) gl.attachShader(this.#program, s);
    gl.linkProgram(this.#program);
    if (!gl.getProgramParameter(this.#program, gl.LINK_STATUS) && !gl.isContextLost()) {
      const log = shaders.map((s) => gl.getShaderInfoLog(s) ?? '').join('');
      throw new Error(`shader: ${log || gl.getProgramInfoLog(this.#program)}`);
    }
    for (const s of shaders) gl.deleteShader(s);
    const count = (gl.getProgramParameter(this.#program, gl.ACTIVE_UNIFORMS) as number | null) ?? 0;
    let unit = 0;
    for (let i = 0; i < count; i++) {
      const info = gl.getActiveUniform(this.#program, i)!;
      const at = gl.getUniformLocation(this.#program, info.name);
      const name = info.name.replace('[0]', '');
      this.#set.set(name, this.#setter(info.type, at, info.type === gl.SAMPLER_2D ? unit++ : 0));
    }
  }

  #setter(type: number, at: WebGLUniformLocation | null, unit: number): (v: Value) => void {
    const gl = this.#gl;
    switch (type) {
      case gl.FLOAT: return (v) => typeof v === 'number' ? gl.uniform1f(at, v) : gl.uniform1fv(at, v as number[]);
      case gl.FLOAT_VEC2: return (v) => gl.uniform2fv(at, v as number[]);
      case gl.FLOAT_VEC3: return (v) => gl.uniform3fv(at, v as number[]);
      case gl.FLOAT_VEC4: return (v) => gl.uniform4fv(at, v as number[]);
      case gl.FLOAT_MAT4: return (v) => gl.uniformMatrix4fv(at, false, v as Float32Array);
      case gl.SAMPLER_2D: return (v) => {
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(gl.TEXTURE_2D, v as WebGLTexture);
        gl.uniform1i(at, unit);
      };
      default: return (v) => gl.uniform1i(at, Number(v));
    }
  }

  /* Names that the shaders do not use are passed over. */
  use(...values: Record<string, Value>[]): void {
    this.#gl.useProgram(this.#program);
    for (const group of values) {
      for (const name in group) this.#set.get(name)?.(group[name]!);
    }
  }
}

export type Format = 'r8' | 'rgba8' | 'r32f' | 'rg32f' | 'r16f' | 'rgba16f' | 'rgba32f' | 'hdr' | 'depth';

function formatOf(gl: WebGL2RenderingContext, f: Format): [number, number, number] {
  switch (f) {
    case 'r8': return [gl.R8, gl.RED, gl.UNSIGNED_BYTE];
    case 'rgba8': return [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE];
    case 'r32f': return [gl.R32F, gl.RED, gl.FLOAT];
    case 'rg32f': return [gl.RG32F, gl.RG, gl.FLOAT];
    case 'r16f': return [gl.R16F, gl.RED, gl.HALF_FLOAT];
    case 'rgba16f': return [gl.RGBA16F, gl.RGBA, gl.HALF_FLOAT];
    case 'rgba32f': return [gl.RGBA32F, gl.RGBA, gl.FLOAT];
    case 'hdr': return [gl.R11F_G11F_B10F, gl.RGB, gl.FLOAT];
    case 'depth': return [gl.DEPTH_COMPONENT24, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT];
  }
}

export function texture(gl: WebGL2RenderingContext, format: Format, width: number, height: number,
                        data: ArrayBufferView | null = null): WebGLTexture {
  const [inside, order, type] = formatOf(gl, format), t = gl.createTexture()!;
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, t);
  gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, order, type, data);
  const smooth = format === 'r8' || format === 'rgba8' || format === 'r16f' || format === 'rgba16f' || format === 'hdr';
  const filter = smooth ? gl.LINEAR : gl.NEAREST;
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return t;
}

/* Textures that are drawn into. Depth is its own, or another target's. */
export class Target {
  readonly #gl: WebGL2RenderingContext;
  readonly #own: WebGLTexture[] = [];
  readonly frame: WebGLFramebuffer;
  readonly color: WebGLTexture[];
  readonly depth: WebGLTexture | null;
  readonly width: number;
  readonly height: number;

  constructor(gl: WebGL2RenderingContext, width: number, height: number, formats: Format[],
              depth: WebGLTexture | 'depth' | null = null) {
    this.#gl = gl;
    this.width = width;
    this.height = height;
    this.color = formats.map((f) => texture(gl, f, width, height));
    this.#own.push(...this.color);
    this.depth = depth === 'depth' ? texture(gl, 'depth', width, height) : depth;
    if (depth === 'depth') this.#own.push(this.depth!);
    this.frame = gl.createFramebuffer()!;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    this.color.forEach((t, i) =>
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + i, gl.TEXTURE_2D, t, 0));
    if (this.depth) {
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.depth, 0);
    }
    gl.drawBuffers(formats.length ? formats.map((_, i) => gl.COLOR_ATTACHMENT0 + i) : [gl.NONE]);
  }

  bind(): void {
    this.#gl.bindFramebuffer(this.#gl.FRAMEBUFFER, this.frame);
    this.#gl.viewport(0, 0, this.width, this.height);
  }

  free(): void {
    this.#gl.deleteFramebuffer(this.frame);
    for (const t of this.#own) this.#gl.deleteTexture(t);
  }
}

/* An array of vertices that grows as needed. */
export class Buffer {
  readonly #gl: WebGL2RenderingContext;
  readonly buffer: WebGLBuffer;
  readonly #kind: number;
  #room = 0;

  constructor(gl: WebGL2RenderingContext, kind: number = gl.ARRAY_BUFFER) {
    this.#gl = gl;
    this.#kind = kind;
    this.buffer = gl.createBuffer()!;
  }

  set(data: ArrayBufferView): void {
    const gl = this.#gl;
    gl.bindBuffer(this.#kind, this.buffer);
    if (data.byteLength > this.#room || this.#room > 4 * data.byteLength) {
      gl.bufferData(this.#kind, data, gl.DYNAMIC_DRAW);
      this.#room = data.byteLength;
    } else {
      gl.bufferSubData(this.#kind, 0, data);
    }
  }
}
