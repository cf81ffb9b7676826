/* A scene as a link. The link is the scene: its text and the camera, compressed, after the # of the page's address,
 * which browsers send to nobody. */
import {unpack, pack} from './bytes.ts';
import type {CameraState} from '../view/camera.ts';

export type Shared = {
  scene: string; /* YAML */
  title?: string;
  camera?: CameraState; /* as the view gives and takes it */
  base?: string; /* the gallery's scene it came from, so that changed values can be marked */
  view?: {look?: Look; color?: string};
};

const LOOKS = ['surface', 'points', 'mesh'] as const;
type Look = (typeof LOOKS)[number];

export const MOST_LINK = 60000; /* characters: some browsers and mailers cut longer ones off */
const MOST_SHARED = 4 << 20; /* bytes once unpacked */

export class ShareError extends Error {}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

function fromBase64(text: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new ShareError('The link is damaged: it has letters that no link has.');
  try {
    return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
  } catch {
    throw new ShareError('The link is cut off.');
  }
}

/* What goes after the #. */
export async function encodeShared(shared: Shared): Promise<string> {
  const plain = new TextEncoder().encode(JSON.stringify(shared));
  const packed = typeof CompressionStream === 'undefined' ? null : await pack(plain, 'deflate-raw');
  return packed ? `s=d${toBase64(packed)}` : `s=p${toBase64(plain)}`;
}

export async function makeLink(shared: Shared, page: string = location.href): Promise<string> {
  const link = `${page.replace(/#.*$/s, '')}#${await encodeShared(shared)}`;
  if (link.length > MOST_LINK) {
    const [would, most] = [link.length, MOST_LINK].map(n => `${Math.ceil(n / 1000)},000`);
    throw new ShareError(`The link would have ${would} characters; ${most} are the most. Save the scene as a file.`);
  }
  return link;
}

/* The scene of a link's part from # on; null if it holds none. */
export async function readLink(hash: string): Promise<Shared | null> {
  const found = hash.match(/^#?(?:.*&)?s=([^&]*)/s);
  if (!found) return null;
  const how = found[1]![0], bytes = fromBase64(found[1]!.slice(1));
  if (how !== 'd' && how !== 'p') throw new ShareError('The link was made by another version of the studio.');
  let plain = bytes;
  if (how === 'd') {
    if (typeof DecompressionStream === 'undefined') throw new ShareError('This browser is too old to open the link.');
    try {
      plain = await unpack(bytes, 'deflate-raw', 'The link', MOST_SHARED);
    } catch (error) {
      throw new ShareError((error as Error).message);
    }
  }
  return check(plain);
}

/* Links come from anywhere: what is not a camera or a look is left out. */
function cameraIn(value: unknown): CameraState | null {
  const c = value as Partial<CameraState> | null | undefined;
  if (typeof c !== 'object' || !Array.isArray(c?.target) || c.target.length !== 3) return null;
  const {target, azimuth, elevation, distance} = c as CameraState;
  if (![...target, azimuth, elevation, distance].every(Number.isFinite) || distance <= 0) return null;
  return {target: [...target], azimuth, elevation, distance};
}

function viewIn(value: unknown): Shared['view'] | null {
  const v = value as Record<string, unknown> | null | undefined;
  if (typeof v !== 'object' || v === null) return null;
  const look = LOOKS.find(l => l === v.look);
  return {...(look ? {look} : {}), ...(typeof v.color === 'string' ? {color: v.color.slice(0, 200)} : {})};
}

function check(plain: Uint8Array): Shared {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(plain));
  } catch {
    throw new ShareError('The link is damaged or cut off.');
  }
  const v = value as Record<string, unknown> | null;
  if (typeof v !== 'object' || typeof v?.scene !== 'string') throw new ShareError('The link holds no scene.');
  const camera = cameraIn(v.camera), view = viewIn(v.view);
  return {
    scene: v.scene,
    ...(typeof v.title === 'string' ? {title: v.title.slice(0, 200)} : {}),
    ...(camera ? {camera} : {}),
    ...(typeof v.base === 'string' ? {base: v.base} : {}),
    ...(view ? {view} : {}),
  };
}
