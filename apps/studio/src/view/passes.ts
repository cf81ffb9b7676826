/* The shaders of 3D pictures, in the order of their use. */

import {COLOR, LENS, LIGHT, PLACE, RAY, TONE} from './glsl.ts';
import {PARTICLE} from './particles.ts';

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
`;

/* ---- maps that depend on the particles alone ---- */

/* Particles as the sun sees them. */
export const shadowVertex = `${HEAD}${PLACE}${COLOR}${PARTICLE}
uniform mat4 shadowClip;
uniform float pointSize;
void main() {
  gl_Position = shadowClip * vec4(placeOf(place), 1.0);
  gl_PointSize = max(pointSize * share, 1.0);
  if (isHidden(tag, share)) gl_Position = NOWHERE;
}`;
export const shadowFragment = `
void main() {
  vec2 c = 2.0 * gl_PointCoord - 1.0;
  if (dot(c, c) > 1.0) discard;
}`;

/* Particles from above: how near the ground they are, for the dark below them. */
export const coverVertex = `${HEAD}${PLACE}${COLOR}${PARTICLE}
uniform vec4 coverBox; /* x, z of its middle; half its side; height that still darkens */
uniform float groundY, pointSize;
out float weight;
void main() {
  vec3 p = placeOf(place);
  weight = exp(-max(p.y - groundY, 0.0) / coverBox.w);
  gl_Position = vec4((p.xz - coverBox.xy) / coverBox.z, 0.0, 1.0);
  gl_PointSize = pointSize;
  if (isHidden(tag, share)) gl_Position = NOWHERE;
}`;
export const coverFragment = `
in float weight;
out vec4 o;
void main() { o = vec4(weight); }`;

export const softenFragment = `
uniform sampler2D source;
uniform vec2 direction; /* of one texel */
uniform vec2 size;
out vec4 o;
void main() {
  vec2 uv = gl_FragCoord.xy / size;
  float sum = 0.0, all = 0.0;
  for (int i = -6; i <= 6; i++) {
    float w = exp(-float(i * i) / 18.0);
    sum += w * texture(source, uv + float(i) * direction).r;
    all += w;
  }
  o = vec4(sum / all);
}`;

/* ---- what is behind: sky, ground, solids ---- */

export const skyFragment = `
${LENS}${RAY}${LIGHT}
uniform bool hasGround;
out vec4 o;
void main() {
  vec3 d = normalize(worldOf(eyeRay(gl_FragCoord.xy)));
  o = vec4(skySeen(hasGround || d.y > 0.0 ? d : vec3(d.x, -0.3 * d.y, d.z)), 1.0);
}`;

/* For pixels on the ground's side of the horizon. */
export const groundFragment = `
${LENS}${RAY}${LIGHT}
uniform float groundY, distance, lineStep, lineMinor, lineStrength, shadowStrength;
uniform vec3 groundLine, groundSun, groundSky; /* light that falls on it */
uniform vec4 coverBox;
uniform sampler2D cover;
out vec4 o;
float lines(vec2 x, float period, vec2 wide) {
  vec2 off = abs(fract(x / period - 0.5) - 0.5) * period, edge = clamp((0.004 * period + wide - off) / wide, 0.0, 1.0);
  vec2 hit = edge * clamp(0.016 * period / wide, 0.0, 1.0);
  return max(hit.x, hit.y);
}
void main() {
  vec3 d = normalize(worldOf(eyeRay(gl_FragCoord.xy))), level = normalize(vec3(d.x, 0.0, d.z) + 1e-6);
  float t = min((groundY - eye.y) / d.y, 80.0 * distance), far = max(t - distance, 0.0) / (4.5 * distance);
  vec3 p = eye + t * d;
  vec2 wide = 2.0 * t / (size.y * lens.y) * (1.0 + abs(level.xz) / max(abs(d.y), 1e-3));
  float drawn = max(lines(p.xz, 10.0 * lineStep, wide), 0.3 * lineMinor * lines(p.xz, lineStep, wide));
  float lit = mix(1.0, sunAt(p, 0.0, 2.5).x, shadowStrength);
  vec2 at = 0.5 + 0.5 * (p.xz - coverBox.xy) / coverBox.z, edge = clamp(16.0 * at * (1.0 - at), 0.0, 1.0);
  float open = 1.0 - 0.75 * edge.x * edge.y * texture(cover, at).r;
  vec3 color = mix(groundColor, groundLine, lineStrength * drawn);
  color *= groundSun * lit * mix(0.85, 1.0, open) + open * groundSky;
  o = vec4(mix(skySeen(level), color, exp(-far * far - 0.6 * far)), 1.0);
  gl_FragDepth = depthOf(t * dot(d, worldOf(vec3(0.0, 0.0, 1.0))));
}`;

export const solidVertex = `${HEAD}${LENS}
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
uniform mat4 model;
out vec3 world, turned;
void main() {
  world = (model * vec4(point, 1.0)).xyz;
  turned = mat3(model) * normal;
  gl_Position = clipOf((view * vec4(world, 1.0)).xyz);
}`;
export const solidFragment = `
${LENS}${RAY}${LIGHT}
uniform vec3 solidColor;
uniform float bias, groundY, reach;
uniform bool hasGround;
in vec3 world, turned;
out vec4 o;
void main() {
  vec3 toEye = normalize(eye - world);
  vec3 n = dot(turned, turned) > 0.0 ? normalize(turned) : normalize(cross(dFdx(world), dFdy(world)));
  if (dot(n, toEye) < 0.0) n = -n;
  vec2 s = sunAt(world + bias * n, 0.5 * bias, 2.5);
  float open = hasGround ? 1.0 - 0.55 * exp(-max(world.y - groundY, 0.0) / reach) * (0.5 - 0.5 * n.y) : 1.0;
  vec3 h = normalize(toEye + sun);
  float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(n, toEye), 0.0), 5.0);
  vec3 lit = solidColor * (sunLight * max(dot(n, sun), 0.0) * s.x + open * skyOn(n));
  lit += sunLight * s.x * 0.08 * pow(max(dot(n, h), 0.0), 24.0) + 0.35 * fresnel * open * skyLight(reflect(-toEye, n));
  o = vec4(lit, 1.0);
}`;

/* Solids in the maps of sun and ground: only where they are matters. */
export const solidShadowVertex = `${HEAD}
layout(location = 0) in vec3 point;
uniform mat4 model, shadowClip;
void main() { gl_Position = shadowClip * model * vec4(point, 1.0); }`;
export const solidShadowFragment = `void main() {}`;
export const solidCoverVertex = `${HEAD}
layout(location = 0) in vec3 point;
uniform mat4 model;
uniform vec4 coverBox;
uniform float groundY;
out float weight;
void main() {
  vec3 p = (model * vec4(point, 1.0)).xyz;
  weight = exp(-max(p.y - groundY, 0.0) / coverBox.w);
  gl_Position = vec4((p.xz - coverBox.xy) / coverBox.z, 0.0, 1.0);
}`;

/* ---- particles ---- */

/* Balls: distance to the eye, with the particle's temperature and hash behind it; colour and material. */
export const ballVertex = `${HEAD}${PLACE}${LENS}${COLOR}${PARTICLE}
uniform float radius, high; /* m; pixels of the target's height */
uniform int plain; /* number of the material that colours are shown with */
out vec3 middle;
flat out vec4 color;
flat out float extra, ball;
void main() {
  middle = (view * vec4(placeOf(place), 1.0)).xyz;
  gl_Position = clipOf(middle);
  vec4 m = texelFetch(materials, ivec2(int(tag & 0xffffu), 3), 0);
  float full = radius * pow(share, m.w) * m.y;
  float pixels = full * lens.y * high / -middle.z;
  gl_PointSize = max(pixels, 1.5);
  ball = full * max(pixels, 1.5) / pixels;
  uint h = uint(gl_VertexID) * 747796405u + 2891336453u;
  h = ((h >> ((h >> 28) + 4u)) ^ h) * 277803737u;
  float kelvin = glowing * mix(values.x, values.y, value);
  extra = floor(clamp(kelvin, 0.0, 4095.0)) + float((h >> 12) & 4095u) / 4096.0;
  color = vec4(sqrt(colorOf(tag, value)), float(coloring == 0 ? int(tag & 0xffffu) : plain) / 255.0);
  if (isHidden(tag, share)) gl_Position = NOWHERE;
}`;
export const ballFragment = `${LENS}
in vec3 middle;
flat in vec4 color;
flat in float extra, ball;
uniform sampler2D sceneDepth;
layout(location = 0) out vec2 depth;
layout(location = 1) out vec4 o;
void main() {
  vec2 c = 2.0 * gl_PointCoord - 1.0;
  float r = dot(c, c), z = middle.z + ball * sqrt(max(1.0 - r, 0.0)), at = depthOf(z);
  if (r > 1.0 || at > texelFetch(sceneDepth, ivec2(gl_FragCoord.xy), 0).r) discard;
  gl_FragDepth = at;
  depth = vec2(-z, extra);
  o = color;
}`;

/* Triangles of a live mesh in place of balls. */
export const meshVertex = `${HEAD}${LENS}
layout(location = 0) in vec3 point;
layout(location = 1) in vec4 tint; /* square root of the colour; material */
layout(location = 2) in float kelvin;
out vec3 middle;
flat out vec4 color;
flat out float extra;
void main() {
  middle = (view * vec4(point, 1.0)).xyz;
  color = tint;
  extra = floor(kelvin) + 0.5; /* tells it from balls */
  gl_Position = clipOf(middle);
}`;
export const meshFragment = `
in vec3 middle;
flat in vec4 color;
flat in float extra;
uniform sampler2D sceneDepth;
layout(location = 0) out vec2 depth;
layout(location = 1) out vec4 o;
void main() {
  if (gl_FragCoord.z > texelFetch(sceneDepth, ivec2(gl_FragCoord.xy), 0).r) discard;
  depth = vec2(-middle.z, extra);
  o = color;
}`;

/* How much clear material the eye looks through, m. */
export const thickVertex = ballVertex;
export const thickFragment = `
in vec3 middle;
flat in vec4 color;
flat in float extra, ball;
uniform float fullness; /* volume of a particle over that of its ball */
uniform sampler2D materials;
out vec4 o;
void main() {
  vec2 c = 2.0 * gl_PointCoord - 1.0;
  float r = dot(c, c);
  if (r > 1.0) discard;
  float clear = step(0.3, texelFetch(materials, ivec2(int(255.0 * color.a + 0.5), 1), 0).x);
  o = vec4(clear * fullness * 2.0 * ball * sqrt(1.0 - r));
}`;
export const meshThickFragment = `
in vec3 middle;
flat in vec4 color;
flat in float extra;
uniform sampler2D materials;
out vec4 o;
void main() {
  float clear = step(0.3, texelFetch(materials, ivec2(int(255.0 * color.a + 0.5), 1), 0).x);
  o = vec4(gl_FrontFacing ? middle.z : -middle.z) * clear;
}`;

/* Of pixels that are material: smooths the distance to the eye along one direction, but not over edges: what is much nearer has no say,
 * what is much further counts as a little further. */
export const smoothFragment = `
uniform sampler2D source, colors, materials;
uniform vec2 direction;
uniform float spacing, pixels, strength, most; /* m; pixels that 1 m has at distance 1; of reach, pixels */
out float o;
void main() {
  ivec2 q = ivec2(gl_FragCoord.xy);
  float d = texelFetch(source, q, 0).r;
  if (d <= 0.0) {
    o = 0.0;
    return;
  }
  float smoothing = texelFetch(materials, ivec2(int(255.0 * texelFetch(colors, q, 0).a + 0.5), 2), 0).z;
  float reach = min(strength * (0.6 + smoothing) * spacing * pixels / d, most);
  float stride = max(reach / 8.0, 1.0), end = 1.1 * max(reach, 1.0);
  float near = d - (1.5 + 2.0 * smoothing) * spacing, far = d + (0.5 + 0.5 * smoothing) * spacing, sum = d, all = 1.0;
  for (int i = 1; i <= 8; i++) {
    float at = float(i) * stride, w = 1.0 - at * at / (end * end);
    if (w <= 0.0 || reach < 0.7) break;
    w *= w;
    for (int side = -1; side <= 1; side += 2) {
      float e = texelFetch(source, q + ivec2(float(side) * (at * direction + 0.5 * direction) ), 0).r;
      if (e <= 0.0 || e < near) continue;
      sum += w * min(e, far);
      all += w;
    }
  }
  o = sum / all;
}`;

/* ---- the picture ---- */

/* What is not material. */
export const plainFragment = `
${TONE}
uniform sampler2D behind;
out vec4 o;
void main() { o = vec4(finished(texelFetch(behind, ivec2(gl_FragCoord.xy), 0).rgb, gl_FragCoord.xy), 1.0); }`;

export const shadeFragment = (see: boolean): string => `
#define SEE ${see ? 1 : 0}
${LENS}${RAY}${LIGHT}${TONE}
uniform sampler2D depths, raw, colors, behind, thick, materials;
uniform float spacing, radius, occlusion; /* m; reach of corners that darken, m */
out vec4 o;
float depthAt(ivec2 q) { return texelFetch(depths, clamp(q, ivec2(0), ivec2(size) - 1), 0).r; }
vec3 pointAt(ivec2 q) { return eyeRay(vec2(q) + 0.5) * depthAt(q); }
vec3 normalAt(ivec2 q, vec3 p) {
  vec3 l = p - pointAt(q - ivec2(1, 0)), r = pointAt(q + ivec2(1, 0)) - p;
  vec3 b = p - pointAt(q - ivec2(0, 1)), t = pointAt(q + ivec2(0, 1)) - p;
  return normalize(cross(abs(l.z) < abs(r.z) ? l : r, abs(b.z) < abs(t.z) ? b : t));
}
/* Part of the sky that corners and hollows leave. */
float openAt(vec3 p, vec3 n) {
  float turn = 6.2831853 * noise(gl_FragCoord.yx + 17.0), dark = 0.0;
  float reach = min(occlusion * lens.y * size.y * 0.5 / -p.z, 0.2 * size.y);
  vec2 way = vec2(cos(turn), sin(turn)) * reach;
  for (int i = 0; i < taps; i++) {
    ivec2 q = ivec2(gl_FragCoord.xy + way * (float(i) + 0.5) / float(taps));
    way = GOLDEN * way;
    float d = depthAt(q);
    if (d <= 0.0) continue;
    vec3 v = eyeRay(vec2(q) + 0.5) * d - p;
    float far = dot(v, v);
    dark += max(dot(n, v) - 0.15 * spacing, 0.0) * inversesqrt(far + 1e-12) * max(0.0, 1.0 - far / (occlusion * occlusion));
  }
  return clamp(1.0 - 2.0 * dark / float(taps), 0.0, 1.0);
}
/* How much of a small ring around a pixel is material: at the tips of balls that stand out from an edge, little. */
float ringAt(ivec2 q, float r) {
  float sum = 0.0;
  vec2 way = vec2(r, 0.0);
  for (int i = 0; i < 8; i++) {
    sum += step(1e-6, depthAt(q + ivec2(floor(way + 0.5))));
    way = mat2(0.70710678, 0.70710678, -0.70710678, 0.70710678) * way;
  }
  return sum / 8.0;
}
float fresnel(float c, float index) {
  float r = (index - 1.0) / (index + 1.0), f = 1.0 - clamp(c, 0.0, 1.0);
  return r * r + (1.0 - r * r) * f * f * f * f * f;
}
/* The sun mirrored in a rough skin (GGX, Walter et al. 2007), times pi. */
float highlight(vec3 n, vec3 toEye, float roughness, float index) {
  float l = dot(n, sun), v = max(dot(n, toEye), 0.02);
  if (l <= 0.0) return 0.0;
  vec3 h = normalize(toEye + sun);
  float a = max(roughness * roughness, 4e-3), c = max(dot(n, h), 0.0), k = c * c * (a * a - 1.0) + 1.0;
  return fresnel(dot(h, toEye), index) * a * a / (k * k) * l / (2.0 * (l + v));
}
/* Light of a body at a temperature (K), as the renderer of pictures has it: Wien's law for three colours. */
vec3 glow(float kelvin) {
  if (kelvin < 800.0) return vec3(0.0);
  vec3 c = vec3(23587.0, 26160.0, 30942.0);
  return vec3(2.0, 3.36, 7.76) * exp(23587.0 / 1400.0 - c / kelvin);
}
vec3 shade(ivec2 q, float d, vec3 back) {
  if (d <= 0.0) return back;
  vec3 p = eyeRay(gl_FragCoord.xy) * d, seen = normalAt(q, p), n = worldOf(seen);
  vec4 g = texelFetch(colors, q, 0);
  vec3 base = g.rgb * g.rgb;
  int m = int(255.0 * g.a + 0.5);
  vec4 body = texelFetch(materials, ivec2(m, 1), 0), skin = texelFetch(materials, ivec2(m, 2), 0);
  float glint = texelFetch(materials, ivec2(m, 3), 0).x;
  float clarity = body.x, subsurface = body.z, gloss = body.w, roughness = skin.x, index = skin.y, grain = skin.w;
  float extra = texelFetch(raw, q, 0).y, hash = fract(extra), size_ = radius * lens.y * size.y / d;
  float grainy = grain * smoothstep(1.0, 4.0, size_);
  vec3 roll = fract(hash * vec3(17.31, 91.7, 43.13) * 7.0) - 0.5;
  vec3 rough = normalize(n + 0.5 * grainy * roll);
  /* Balls of smooth material have smooth outlines. */
  float ring = hash != 0.5 && skin.z > 1.5 && size_ > 5.0 ? ringAt(q, 0.4 * size_) : 1.0, cut = smoothstep(0.26, 0.5, ring);
  if (cut <= 0.0) return back;
  vec3 world = eye + worldOf(p), toEye = -normalize(worldOf(p));
  vec2 s = sunAt(world + (0.6 * radius) * n, 0.8 * spacing, 2.5 + (SEE == 1 ? 14.0 * clarity : 0.0));
  float facing = dot(rough, sun), open = openAt(p, seen);
  vec3 around = skyOn(rough);
  /* Hollows of pale material are lit by what is around them. */
  vec3 dim = mix(open * mix(vec3(1.0), base, 0.3 * (1.0 - open)), vec3(1.0), open * open);
  float wrap = 0.35 * subsurface;
  vec3 lit = base * (sunLight * s.x * (1.0 - 0.4 * subsurface) * max((facing + wrap) / (1.0 + wrap), 0.0) + around * dim);
  /* Light that went in elsewhere: it fades with the way through, blue and red by the material's colour. */
  vec3 fade = exp(-s.y / (max(body.y, 1.5 * spacing) * (0.35 + 1.3 * base)));
  lit += subsurface * 0.35 * sqrt(base) * base * sunLight * fade * (1.0 - s.x * max(facing, 0.0));
  vec3 c = lit;
#if SEE
  float way = max(texture(thick, gl_FragCoord.xy / size).r, 2.0 * spacing);
  float pure = clarity * clarity * clarity * clarity; /* water, glass */
  vec3 absorb = -log(clamp(base, 0.02, 0.98)) / body.y, through = exp(-mix(1.0, 0.6, pure) * absorb * way);
  vec2 off = -seen.xy * min(way, 8.0 * spacing) * (index - 1.0) * 0.5 * lens.y / d * vec2(size.y / size.x, 1.0);
  vec3 beyond = textureLod(behind, clamp(gl_FragCoord.xy / size + off, 0.0, 1.0), 0.0).rgb;
  /* Light inside: of the sun, dimmed on its way in and gathered on the far side, and of the sky. */
  vec3 inward = exp(-0.6 * absorb * s.y);
  float gathered = 0.5 - 0.5 * dot(n, normalize(sun + vec3(0.0, 0.5, 0.0)));
  vec3 within = mix(base, sqrt(base), 0.5 * pure) * (sunLight * (0.06 + 0.34 * inward) * (0.4 + 1.3 * gathered) + 0.45 * skyOn(vec3(0.0, 1.0, 0.0)));
  float murk = (1.0 - exp(-1.4 * way / body.y)) * mix(1.0, 0.5, pure);
  c = mix(c, mix(beyond * (1.0 + 0.25 * pure) * through, within, murk), min(clarity / 0.3, 1.0));
#endif
  c += glow(floor(extra));
  float rim = SEE == 1 ? clarity * (1.0 - smoothstep(0.5, 1.0, ring)) : 0.0;
  float f = gloss * max(fresnel(dot(n, toEye), index), 0.22 * rim) * (1.0 - 0.6 * roughness);
  vec3 mirrored = roughness > 0.25 ? skyOn(reflect(-toEye, n)) : skyLight(reflect(-toEye, n));
  c = mix(c, mirrored * mix(0.35, 1.0, open), f);
  c += sunLight * max(s.x, SEE == 1 ? clarity : 0.0) * gloss * min(highlight(n, toEye, max(roughness, 0.1), index), 6.0);
  if (glint > 0.0 && hash > 0.985 && size_ < 5.0) {
    c += sunLight * s.x * glint * 1.4 * pow(max(dot(normalize(n + 0.9 * roll), normalize(toEye + sun)), 0.0), 12.0) * smoothstep(0.5, 2.0, size_);
  }
  return mix(back, c, cut);
}
void main() {
  ivec2 q = ivec2(gl_FragCoord.xy);
  o = vec4(finished(shade(q, texelFetch(depths, q, 0).r, texelFetch(behind, q, 0).rgb), gl_FragCoord.xy), 1.0);
}`;

/* Smooths the steps of edges, along them, over a pixel or two (in the manner of Lottes 2009). */
export const evenFragment = `
uniform sampler2D source;
uniform vec2 size;
out vec4 o;
float light(vec3 c) { return dot(c, vec3(0.3, 0.59, 0.11)); }
void main() {
  vec2 uv = gl_FragCoord.xy / size, e = 1.0 / size;
  vec3 m = texture(source, uv).rgb;
  float nw = light(texture(source, uv + vec2(-e.x, e.y)).rgb), ne = light(texture(source, uv + e).rgb);
  float sw = light(texture(source, uv - e).rgb), se = light(texture(source, uv + vec2(e.x, -e.y)).rgb), c = light(m);
  float low = min(c, min(min(nw, ne), min(sw, se))), high = max(c, max(max(nw, ne), max(sw, se)));
  o = vec4(m, 1.0);
  if (high - low > max(0.04, 0.1 * high)) {
    vec2 d = vec2(sw + se - nw - ne, nw + sw - ne - se);
    d = clamp(d / (min(abs(d.x), abs(d.y)) + max((nw + ne + sw + se) * 0.03, 0.01)), -6.0, 6.0) * e;
    vec3 a = 0.5 * (texture(source, uv - d / 6.0).rgb + texture(source, uv + d / 6.0).rgb);
    vec3 b = 0.5 * a + 0.25 * (texture(source, uv - 0.5 * d).rgb + texture(source, uv + 0.5 * d).rgb);
    float y = light(b);
    o = vec4(y < low || y > high ? a : b, 1.0);
  }
}`;

export const enlargeFragment = `
uniform sampler2D source;
uniform vec2 canvas;
out vec4 o;
void main() { o = vec4(texture(source, gl_FragCoord.xy / canvas).rgb, 1.0); }`;
