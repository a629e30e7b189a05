/** How the station page sends the requests of enrollment and issuing. */
import { Code } from '../../../src/contract/codes.ts';
import { endpoints } from '../../../src/contract/endpoints.ts';
import { retry, waitMs } from '../../../src/delivery/retry.ts';
import { schedules } from '../../../src/delivery/schedules.ts';
import { sleep } from '../../../src/delivery/wait.ts';
import type { Send } from '../../../src/enrollment/send.ts';
import { problemOf } from '../../api/problem.ts';
import { call, newKey, token } from '../../api/request.ts';
import { streamState } from '../../api/stream.ts';

/** Each write has a key of its own: one that is over its limit is sent again when the daemon accepts it. */
export const send: Send = (operation, input, id) =>
  call(operation, input, endpoints[operation].method === 'GET' ? {} : { key: id ?? newKey() });

/** Sends a request until it has an answer, as long as there is a session. A write is carried out once, whatever the connection does. */
export const sendAgain: Send = (operation, input, id) => {
  const key = id ?? newKey();
  return again(() => send(operation, input, key));
};

/** The code of an error; see `RequestErrors`. A security key that was not used permits nothing. */
export function codeOf(error: unknown): number | null {
  const code = problemOf(error)?.code ?? null;
  return typeof code === 'string' ? Code.noPermission : code;
}

/** A request without an answer is repeated without an end. */
function again<T>(request: () => Promise<T>): Promise<T> {
  let faults = 0;
  return retry(request, async error => {
    const code = codeOf(error);
    const wait = waitMs(schedules.station, code === 500 ? faults++ : 0);
    if (token.peek() === null || wait === null || (code !== 0 && code !== 500)) throw error;
    await sleep(wait);
    await streamIsBack();
  });
}

/** Waits until the daemon may answer. */
async function streamIsBack(): Promise<void> {
  if (streamState.peek() !== 'lost') return;
  await new Promise<void>(resolve => {
    const stop = streamState.subscribe(state => {
      if (state === 'lost') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
