/* The Worker that reads particle files; see reader.ts. */
import {doJob, type ReadJob} from './reader.ts';

/* The page's types know no Worker's own. */
const scope = self as unknown as {
  onmessage: (m: MessageEvent<ReadJob>) => void;
  postMessage(m: unknown, t: Transferable[]): void;
};

scope.onmessage = m => {
  void doJob(m.data).then(answer => {
    const buffers = new Set(answer.points?.columns.map(c => c.data.buffer as ArrayBuffer) ?? []);
    scope.postMessage(answer, [...buffers]);
  });
};
