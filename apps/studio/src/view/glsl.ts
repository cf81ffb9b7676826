/* Shader text that several passes share. Everything has y up, in m. */

/* A particle's place from two words of a picture. */
export const PLACE = `
uniform vec3 origin;
uniform float unit;
uniform bool zUp;
vec3 placeOf(uvec2 w) {
  uvec3 n = uvec3(w.x & 0x1fffffu, (w.x >> 21) | ((w.y & 0x3ffu) << 11), (w.y >> 10) & 0x1fffffu);
  vec3 p = origin + unit * vec3(n);
  return zUp ? vec3(p.x, p.z, -p.y) : p;
}
`;

/* The eye's frame: texels to points and back. */
export const LENS = `
uniform mat4 view;
uniform vec4 lens; /* fx, fy, sx, sy */
uniform vec2 range; /* near, far */
vec4 clipOf(vec3 v) {
  float n = range.x, f = range.y;
  return vec4(lens.xy * v.xy - lens.zw * v.z, ((f + n) * v.z + 2.0 * f * n) / (n - f), -v.z);
}
float depthOf(float z) {
  float n = range.x, f = range.y;
  return 0.5 + 0.5 * ((f + n) * z + 2.0 * f * n) / ((f - n) * z);
}
`;
export const RAY = `
uniform vec3 eye;
uniform vec2 size;
vec3 eyeRay(vec2 pixel) { return vec3((2.0 * pixel / size - 1.0 - lens.zw) / lens.xy, -1.0); }
vec3 worldOf(vec3 v) { return (vec4(v, 0.0) * view).xyz; } /* a direction of the eye's frame */
`;

/* Sky, sun and their shadows. */
export const LIGHT = `
uniform vec3 sun, sunLight, zenith, horizon, skyTop, skyLow, groundColor;
uniform float fill;
uniform mat4 shadowClip;
uniform float shadowReach, shadowSize; /* m that its depth spans; texels a side */
uniform sampler2D shadowMap;
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
vec3 skySeen(vec3 d) {
  float y = max(d.y, 0.0), glow = max(dot(d, sun), 0.0);
  glow *= glow;
  glow *= glow * glow; /* to the sixth; squared below */
  return mix(skyLow, skyTop, y * y / (y * y + 0.12)) + sunLight * 0.05 * glow * glow;
}
vec3 skyLight(vec3 d) {
  float y = abs(d.y);
  vec3 up = fill * mix(horizon, zenith, y * y / (y * y + 0.06));
  vec3 down = groundColor * (0.9 * fill * mix(horizon, zenith, 0.8) + sunLight * sun.y);
  return mix(down, up, smoothstep(-0.12, 0.08, d.y));
}
vec3 skyOn(vec3 n) {
  vec3 up = fill * mix(horizon, zenith, 0.82);
  vec3 down = groundColor * (up + sunLight * sun.y);
  return mix(down, up, 0.5 + 0.5 * n.y);
}
/* Part of the sun that arrives, and m of material it went through. */
uniform int taps;
/* Places on a disc: turned by the golden angle from one to the next. */
const mat2 GOLDEN = mat2(-0.737369, 0.675490, -0.675490, -0.737369);
vec2 sunAt(vec3 p, float bias, float blur) {
  vec3 s = 0.5 + 0.5 * (shadowClip * vec4(p, 1.0)).xyz;
  s.z = clamp(s.z, 0.0, 1.0); /* shadows fall beyond what throws them */
  bool beyond = any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)));
  float turn = 6.2831853 * noise(gl_FragCoord.xy), lit = 0.0, deep = 0.0, b = bias / shadowReach;
  vec2 way = vec2(cos(turn), sin(turn)) * (blur / shadowSize);
  for (int i = 0; i < (beyond ? 0 : taps); i++) {
    float z = texture(shadowMap, s.xy + way * sqrt((float(i) + 0.5) / float(taps))).r;
    way = GOLDEN * way;
    lit += step(s.z - b, z);
    deep += max(s.z - z, 0.0);
  }
  return beyond ? vec2(1.0, 0.0) : vec2(lit, deep * shadowReach) / float(taps);
}
`;

/* Narkowicz 2015's fit of a filmic curve, then sRGB; grey for a scene that is out of date; a dither of half a step. */
export const TONE = `
uniform float exposure, stale;
vec3 finished(vec3 c, vec2 pixel) {
  c = max(c * exposure, 0.0);
  c = clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
  c = mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
  c = mix(c, vec3(0.1 + 0.8 * dot(c, vec3(0.3, 0.6, 0.1))), stale);
  return c + (fract(52.9829189 * fract(dot(pixel, vec2(0.06711056, 0.00583715)))) - 0.5) / 255.0;
}
`;

/* For what is drawn over a picture: whether it is behind something. */
export const BEHIND = `
uniform bool hides;
uniform vec2 canvas;
uniform sampler2D solidDepth, ballDepth;
bool isBehind(float depth) {
  vec2 at = gl_FragCoord.xy / canvas;
  return hides && min(texture(solidDepth, at).r, texture(ballDepth, at).r) < depth - 2e-5;
}
`;

/* Colour of a particle: of its material, of an attribute, or of its object. */
export const COLOR = `
uniform sampler2D materials, objects, map;
uniform int coloring; /* 0 material, 1 attribute, 2 object */
uniform vec2 values, shownRange; /* least and most: of the numbers, and of the map */
uniform float glowing; /* 1: numbers are temperatures, K */
vec3 turnHue(vec3 c, float angle) {
  float s = sin(angle) / sqrt(3.0), t = cos(angle), mean = (c.x + c.y + c.z) / 3.0 * (1.0 - t);
  return clamp(c * t + vec3(c.z - c.y, c.x - c.z, c.y - c.x) * s + mean, 0.02, 0.98);
}
vec3 linear(vec3 c) { return pow(c, vec3(2.2)); }
vec3 colorOf(uint tag, float value) {
  int material = int(tag & 0xffffu), object = int(tag >> 16);
  if (coloring == 2) return linear(texelFetch(map, ivec2(object & 255, 0), 0).rgb);
  if (coloring == 1) {
    float v = mix(values.x, values.y, value);
    float t = clamp((v - shownRange.x) / (shownRange.y - shownRange.x), 0.0, 1.0);
    return linear(texture(map, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb);
  }
  vec4 m = texelFetch(materials, ivec2(material, 0), 0);
  return m.a > 0.0 && object > 0 ? turnHue(m.rgb, 2.39996323 * m.a * float(object)) : m.rgb;
}
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0); /* beyond every picture */
uniform bool hiding; /* some objects are hidden */
uniform float meshing; /* particles with a greater share of their radius are in a mesh, if their material is smooth */
bool isHidden(uint tag, float share) {
  if (share > meshing && texelFetch(materials, ivec2(int(tag & 0xffffu), 3), 0).z > 0.5) return true;
  if (!hiding) return false;
  int object = int(tag >> 16);
  return object < textureSize(objects, 0).x && texelFetch(objects, ivec2(object, 0), 0).r < 0.5;
}
`;
