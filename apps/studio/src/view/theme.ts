/* Light, sky and inks of the dark and of the light theme. Light is linear: a white surface that faces the sun
 * shows `sun`. */

import type {Vec3} from '../protocol.ts';
import {DEGREE} from './math.ts';

export type ThemeName = 'dark' | 'light';

export type Theme = {
  sun: Vec3;
  zenith: Vec3; /* of the sky as a light */
  horizon: Vec3;
  skyTop: Vec3; /* of the sky as seen */
  skyLow: Vec3;
  fill: number; /* strength of the sky's light */
  ground: Vec3;
  groundLine: Vec3; /* colour, and how much of it */
  lineStrength: number;
  solid: Vec3; /* colliders */
  exposure: number;
  paper: Vec3; /* sRGB from here on: 2D */
  earth: Vec3;
  faint: Vec3; /* lines of little weight */
  ink: Vec3;
  halo: Vec3;
  accent: Vec3;
  changed: Vec3;
  axes: [Vec3, Vec3, Vec3];
};

const hex = (x: number): Vec3 => [(x >> 16) / 255, ((x >> 8) & 255) / 255, (x & 255) / 255];

export const themes: Record<ThemeName, Theme> = {
  dark: {
    sun: [1.6, 1.36, 1.08], zenith: [0.08, 0.16, 0.34], horizon: [0.35, 0.4, 0.46],
    skyTop: [0.1, 0.15, 0.25], skyLow: [0.3, 0.345, 0.4], fill: 1.2,
    ground: [0.115, 0.125, 0.145], groundLine: [0.62, 0.62, 0.62], lineStrength: 0.3,
    solid: [0.15, 0.165, 0.19], exposure: 0.72,
    paper: hex(0x12151a), earth: hex(0x1f252d), faint: hex(0x465061), ink: hex(0xf4f7fa), halo: hex(0x0b0d11),
    accent: hex(0x7cc8f4), changed: hex(0xf5b45c), axes: [hex(0xff8f86), hex(0x8ed66f), hex(0x82b6ff)],
  },
  light: {
    sun: [1.6, 1.44, 1.22], zenith: [0.28, 0.44, 0.72], horizon: [0.74, 0.79, 0.84],
    skyTop: [0.27, 0.41, 0.6], skyLow: [0.56, 0.64, 0.72], fill: 0.72,
    ground: [0.2, 0.22, 0.25], groundLine: [0.72, 0.76, 0.8], lineStrength: 0.3,
    solid: [0.34, 0.37, 0.42], exposure: 0.88,
    paper: hex(0xeef1f5), earth: hex(0xdfe4ea), faint: hex(0xb3bdc9), ink: hex(0x14191f), halo: hex(0xfdfdfe),
    accent: hex(0x09649c), changed: hex(0x944d00), axes: [hex(0xb83227), hex(0x35761a), hex(0x1f5fc0)],
  },
};

/* Towards the sun, as the default light of scenes. */
const AZIMUTH = -85 * DEGREE, ELEVATION = 36 * DEGREE;
export const SUN: Vec3 =
  [Math.sin(AZIMUTH) * Math.cos(ELEVATION), Math.sin(ELEVATION), Math.cos(AZIMUTH) * Math.cos(ELEVATION)];
