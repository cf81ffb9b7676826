/* Videos of the view, and files of frames. A video has one frame for each that was shown while it was recorded, at the
 * time it has in the video, however long it took to simulate and however many pictures a frame had. Where the browser
 * has no encoder for that, MediaRecorder records, by the clock. */
import {ZipWriter} from './zip.ts';
import {type EncodedFrame, writeWebm} from './webm.ts';

export type RecorderOptions = {fps: number; bitrate?: number /* bits/s */};
export type Video = {blob: Blob; frames: number; seconds: number; exact: boolean};

export interface Recording {
  readonly frames: number;
  /* Encoding keeps up; if not, a page that draws faster than the clock may wait. */
  readonly ready: boolean;
  /* Takes the canvas as it is. To be called in the same task as its drawing: WebGL forgets it afterwards. */
  /* `at`: its place in time, s of the video, from any beginning; without it the frames follow at the video's fps. */
  frame(at?: number): void;
  readonly seconds: number; /* so far */
  stop(): Promise<Video>;
}

const KEY_SECONDS = 2; /* between key frames */
const WAITING = 6; /* frames in the encoder's queue */
const LEAST_GAP = 1 / 61; /* s between frames: more than 60 a second only make the file larger */
const MOST_GAP = 1; /* s: time was moved */

function even(n: number): number {
  return Math.max(2, n & ~1);
}

function config(canvas: HTMLCanvasElement, options: RecorderOptions): VideoEncoderConfig {
  const width = even(canvas.width), height = even(canvas.height);
  const bitrate = options.bitrate ?? Math.min(4e7, Math.max(2e6, width * height * options.fps * 0.16));
  return {codec: 'vp8', width, height, framerate: options.fps, bitrate, latencyMode: 'quality'};
}

class ExactRecording implements Recording {
  frames = 0;
  private now = 0; /* s, of the last frame */
  private place: number | null = null; /* of the last frame, as told */
  private key = -Infinity; /* s, of the last key frame */
  private encoded: EncodedFrame[] = [];
  private encoder: VideoEncoder;
  private copy = document.createElement('canvas'); /* of one size, also if the view's changes */
  private failure: Error | null = null;

  constructor(private canvas: HTMLCanvasElement, private options: RecorderOptions, private config: VideoEncoderConfig) {
    this.copy.width = config.width;
    this.copy.height = config.height;
    this.encoder = new VideoEncoder({
      output: chunk => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        this.encoded.push({bytes, time: chunk.timestamp / 1000, key: chunk.type === 'key'});
      },
      error: e => { this.failure = e; },
    });
    this.encoder.configure(config);
  }

  get ready(): boolean {
    return this.encoder.encodeQueueSize < WAITING;
  }

  get seconds(): number {
    return this.frames ? Math.round((this.now + 1 / this.options.fps) * 1e6) / 1e6 : 0;
  }

  /* How far on from the last frame; 0 if there is nothing new. A step back, or a long one, was made by hand. */
  private gap(at: number | undefined): number {
    const usual = 1 / this.options.fps;
    if (at === undefined || this.place === null) return usual;
    const gap = at - this.place;
    return gap < 0 || gap > Math.max(MOST_GAP, 2 * usual) ? usual : gap < LEAST_GAP ? 0 : gap;
  }

  frame(at?: number): void {
    const gap = this.gap(at);
    if (this.failure || gap === 0) return;
    if (this.frames) this.now += gap;
    if (at !== undefined) this.place = at;
    const {width, height} = this.copy, g = this.copy.getContext('2d')!;
    const scale = Math.min(width / this.canvas.width, height / this.canvas.height);
    const w = this.canvas.width * scale, h = this.canvas.height * scale;
    if (w < width - 2 || h < height - 2) g.clearRect(0, 0, width, height);
    g.drawImage(this.canvas, (width - w) / 2, (height - h) / 2, w, h);
    const timestamp = Math.round(this.now * 1e6), duration = Math.round(1e6 / this.options.fps);
    const frame = new VideoFrame(this.copy, {timestamp, duration});
    const keyFrame = this.now - this.key >= KEY_SECONDS - 1e-6;
    if (keyFrame) this.key = this.now;
    this.encoder.encode(frame, {keyFrame});
    frame.close();
    this.frames++;
  }

  async stop(): Promise<Video> {
    if (!this.failure) await this.encoder.flush().catch((e: unknown) => { this.failure = e as Error; });
    if (this.encoder.state !== 'closed') this.encoder.close();
    if (this.failure) throw new Error(`The video could not be made: ${this.failure.message}`);
    const {width, height} = this.config, fps = this.options.fps;
    const blob = writeWebm({codec: 'V_VP8', width, height, fps}, this.encoded);
    return {blob, frames: this.frames, seconds: this.seconds, exact: true};
  }
}

class ClockRecording implements Recording {
  frames = 0;
  readonly ready = true;
  private recorder: MediaRecorder;
  private parts: Blob[] = [];
  private started = performance.now();
  private track: CanvasCaptureMediaStreamTrack | undefined;

  constructor(canvas: HTMLCanvasElement, options: RecorderOptions) {
    const stream = canvas.captureStream(0);
    this.track = stream.getVideoTracks()[0] as CanvasCaptureMediaStreamTrack | undefined;
    const types = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm', 'video/mp4'];
    const mimeType = types.find(t => MediaRecorder.isTypeSupported(t));
    this.recorder = new MediaRecorder(stream, {mimeType, videoBitsPerSecond: config(canvas, options).bitrate});
    this.recorder.ondataavailable = e => this.parts.push(e.data);
    this.recorder.start(1000);
  }

  frame(): void {
    this.track?.requestFrame();
    this.frames++;
  }

  get seconds(): number {
    return (performance.now() - this.started) / 1000;
  }

  async stop(): Promise<Video> {
    const {seconds} = this;
    await new Promise<void>(done => {
      this.recorder.onstop = () => done();
      this.recorder.stop();
    });
    return {blob: new Blob(this.parts, {type: this.recorder.mimeType}), frames: this.frames, seconds, exact: false};
  }
}

export async function startRecording(canvas: HTMLCanvasElement, options: RecorderOptions): Promise<Recording> {
  const c = config(canvas, options);
  const encodes = typeof VideoEncoder === 'undefined' ? null : await VideoEncoder.isConfigSupported(c).catch(() => null);
  if (encodes?.supported) return new ExactRecording(canvas, options, c);
  if (typeof MediaRecorder === 'undefined') throw new Error('This browser cannot record video.');
  return new ClockRecording(canvas, options);
}

/* "webm", or what the browser records. */
export function videoExtension(video: Video): string {
  return video.blob.type.startsWith('video/mp4') ? '.mp4' : '.webm';
}

/* One file for each frame, in a zip file: `make` gives the frame that is shown now. */
export class FileSequence {
  private zip = new ZipWriter();
  private begun = new Set<number>();
  private waiting = 0;
  private done: Promise<void> = Promise.resolve();
  constructor(private name: string, private extension: string, private make: () => Promise<Uint8Array<ArrayBuffer>>) {}

  get count(): number {
    return this.zip.count;
  }

  /* Not too many are being made. */
  get ready(): boolean {
    return this.waiting < 3;
  }

  /* A frame that is there already is left as it is. */
  add(frame: number): void {
    if (this.begun.has(frame)) return;
    this.begun.add(frame);
    this.waiting++;
    const made = this.make().finally(() => this.waiting--);
    /* In the order of the frames. */
    this.done = this.done.then(async () =>
      this.zip.add(`${this.name}.${String(frame).padStart(4, '0')}.${this.extension}`, await made));
    this.done.catch(() => undefined); /* finish() tells */
  }

  async finish(): Promise<Blob> {
    await this.done;
    return this.zip.finish();
  }
}
