/* A WebM file from encoded frames: a track of video, clusters of a few seconds, an index at the end. */
import {join} from './bytes.ts';

export type EncodedFrame = {bytes: Uint8Array; time: number /* ms */; key: boolean};
export type WebmTrack = {codec: 'V_VP8' | 'V_VP9'; width: number; height: number; fps: number};

const CLUSTER_MS = 5000; /* places in a cluster have 16 bits */

function number(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let v = value; v > 0 || !bytes.length; v = Math.floor(v / 256)) bytes.unshift(v % 256);
  return Uint8Array.from(bytes);
}

/* A length of eight bytes: 2^48 is enough for any. */
function length(size: number): Uint8Array {
  const bytes = new Uint8Array(8), view = new DataView(bytes.buffer);
  view.setUint32(0, 0x01000000 | Math.floor(size / 2 ** 32));
  view.setUint32(4, size >>> 0);
  return bytes;
}

/* An element: its id, a length, and bytes, text, a whole number or other elements. */
function element(id: number, ...content: (Uint8Array | string | number)[]): Uint8Array {
  const parts = content.map(c =>
    typeof c === 'string' ? new TextEncoder().encode(c) : typeof c === 'number' ? number(c) : c);
  const size = parts.reduce((sum, p) => sum + p.length, 0);
  return join([number(id), length(size), ...parts]);
}

function real(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

function block(frame: EncodedFrame, start: number): Uint8Array {
  const head = new Uint8Array(4);
  head[0] = 0x81; /* track 1 */
  new DataView(head.buffer).setInt16(1, Math.round(frame.time) - start);
  head[3] = frame.key ? 0x80 : 0;
  return element(0xa3, head, frame.bytes);
}

/* Frames in order; the first is a key frame. A cluster begins with one. */
export function writeWebm(track: WebmTrack, frames: EncodedFrame[]): Blob {
  const head = element(0x1a45dfa3, element(0x4286, 1), element(0x42f7, 1), element(0x42f2, 4), element(0x42f3, 8),
    element(0x4282, 'webm'), element(0x4287, 4), element(0x4285, 2));
  const duration = frames.length ? frames[frames.length - 1]!.time + 1000 / track.fps : 0;
  const info = element(0x1549a966, element(0x2ad7b1, 1e6), element(0x4489, real(duration)), element(0x4d80, 'Firn'),
    element(0x5741, 'Firn'));
  const size = element(0xe0, element(0xb0, track.width), element(0xba, track.height));
  const tracks = element(0x1654ae6b, element(0xae, element(0xd7, 1), element(0x73c5, 1), element(0x83, 1),
    element(0x9c, 0), element(0x23e383, Math.round(1e9 / track.fps)), element(0x86, track.codec), size));
  const clusters: Uint8Array[] = [], cues: Uint8Array[] = [];
  let at = info.length + tracks.length;
  for (let i = 0; i < frames.length;) {
    const start = Math.round(frames[i]!.time), first = i, blocks: Uint8Array[] = [];
    for (; i < frames.length; i++) {
      const since = frames[i]!.time - start;
      if (i > first && (since > CLUSTER_MS && frames[i]!.key || since > 30000)) break;
      blocks.push(block(frames[i]!, start));
    }
    const cluster = element(0x1f43b675, element(0xe7, start), ...blocks);
    cues.push(element(0xbb, element(0xb3, start), element(0xb7, element(0xf7, 1), element(0xf1, at))));
    clusters.push(cluster);
    at += cluster.length;
  }
  const index = element(0x1c53bb6b, ...cues);
  const parts = [info, tracks, ...clusters, index], all = parts.reduce((sum, p) => sum + p.length, 0);
  return new Blob([head, number(0x18538067), length(all), ...parts] as BlobPart[], {type: 'video/webm'});
}
