/** Sends inputs to a daemon, some at a time, and finds fault with what comes back. */
import { connect, type Socket } from 'node:net';
import type fc from 'fast-check';
import { faultOf, firstAnswer, withoutInterim } from './answers.ts';
import { allInputs, type Input, inputsOf, withToken } from './inputs.ts';
import { MOST_WORK, StallWatch } from './stall.ts';

export interface Target {
  readonly url: string;
  readonly token: string;
  /** Of a service token that may use SCIM; absent: its requests are refused. */
  readonly scimToken?: string | undefined;
  readonly pid: number;
}

export interface Report {
  readonly sent: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Milliseconds of the slowest. */
  readonly slowest: number;
  /** Inputs that were sent again, alone, because much work was done around them. */
  readonly suspects: number;
  /** Faults, each with the input that caused it. */
  readonly faults: readonly string[];
}

export interface RunOptions {
  readonly seed: number;
  readonly count: number;
  readonly inputs?: fc.Arbitrary<Input>;
  readonly atOnce?: number;
  /** Milliseconds an answer may take. */
  readonly most?: number;
}

const MOST_FAULTS = 20;

const health: Input = {
  kind: 'request',
  method: 'GET',
  bytes: Buffer.from('GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n'),
};

/** Tries the first `count` inputs of a seed. */
export async function tryInputs(target: Target, options: RunOptions): Promise<Report> {
  const { seed, count, inputs = allInputs, atOnce = 4, most = 1000 } = options;
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  const watch = new StallWatch(target.pid);
  const numbers = new WeakMap<Input, number>();
  const late = new Set<Input>();
  const found = (input: Input, wrong: string) => {
    faults.push(`input ${numbers.get(input)} of seed ${seed}: ${wrong}\n${shown(input)}`);
  };
  let sent = 0;
  let slowest = 0;
  /** Nothing more is learned from a daemon that answers no one. */
  let isStuck = false;
  const given = inputsOf(inputs, seed, count);
  const client = async () => {
    const wire = new Wire(target);
    for (const input of given) {
      numbers.set(input, sent++);
      const started = performance.now();
      watch.began(input);
      const { answered, fault, stuck = false } = await wire.send(input);
      watch.ended(input);
      const took = performance.now() - started;
      slowest = Math.max(slowest, took);
      for (const status of answered) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (fault) found(input, fault);
      else if (took > most) late.add(input);
      isStuck ||= stuck;
      if (isStuck || faults.length >= MOST_FAULTS) break;
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  if (isStuck) return { sent, statuses, slowest, suspects: 0, faults };
  const alone = new Wire(target);
  for (const input of watch.suspects) {
    if (faults.length >= MOST_FAULTS) break;
    // The answer to the second comes after all the work of the first.
    const work = await leastOf(TRIES, MOST_WORK, () =>
      watch.workOf(() => alone.send(input).then(() => alone.send(health))),
    );
    if (work > MOST_WORK) found(input, `held the main thread for ${Math.round(work)} ms, each time`);
  }
  for (const input of late) {
    if (faults.length >= MOST_FAULTS) break;
    const took = await leastOf(TRIES, most, async () => {
      const started = performance.now();
      await alone.send(input);
      return performance.now() - started;
    });
    if (took > most) found(input, `took ${Math.round(took)} ms, each time`);
  }
  alone.close();
  return { sent, statuses, slowest, suspects: watch.suspects.size, faults };
}

/** Compiling, collecting garbage and a busy machine slow down one try, careless code all of them. */
const TRIES = 3;

/** The least of some figures; stops at the first that is not above `most`. */
async function leastOf(tries: number, most: number, figure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries && least > most; i++) least = Math.min(least, await figure());
  return least;
}

const SHOWN = 500;
/** Bytes as text; of long ones, how they begin and end. */
function shown({ kind, bytes }: Input): string {
  const text = (part: Buffer) => JSON.stringify(part.toString('latin1'));
  if (bytes.length <= 2 * SHOWN) return `  ${kind}: ${text(bytes)}`;
  return `  ${kind} of ${bytes.length} bytes: ${text(bytes.subarray(0, SHOWN))} … ${text(bytes.subarray(-100))}`;
}

interface Outcome {
  /** Status of each answer. */
  readonly answered: readonly number[];
  readonly fault: string | null;
  /** Nothing came for `STUCK_MS`. */
  readonly stuck?: boolean;
}

/** How long a connection may stay silent before it is given up: the daemon is stuck. */
const STUCK_MS = 10_000;

/** One client. Whole requests share a connection as long as it lasts; anything else has one of its own. */
class Wire {
  readonly #target: Target;
  #kept: Socket | null = null;
  /** Requests sent on the kept connection before: one of them may be the cause. */
  #before: Input | null = null;

  constructor(target: Target) {
    this.#target = target;
  }

  send(input: Input): Promise<Outcome> {
    const bytes = withToken(input, this.#target.token, this.#target.scimToken);
    return input.kind === 'request' ? this.#ask(input, bytes) : this.#throwAway(input, bytes);
  }

  close(): void {
    this.#kept?.destroy();
  }

  /** Exactly one answer. */
  async #ask(input: Input, bytes: Buffer): Promise<Outcome> {
    const { method } = input;
    const socket = this.#kept ?? this.#open();
    this.#kept = null;
    const { received, ended } = await exchange(socket, bytes, method);
    const found = firstAnswer(received, method);
    const before = this.#before ? `; before it ${shown(this.#before)}` : '';
    this.#before = null;
    if (!found) {
      const fault = `no answer: ${ended}, ${JSON.stringify(received.toString('latin1'))}${before}`;
      return { answered: [], fault, stuck: ended === 'stuck' };
    }
    const { answer, rest } = found;
    const closes = answer.headers.get('connection') === 'close' || bytes.includes('Connection: close');
    if (closes || answer.status === 101 || ended !== null || rest.length > 0) socket.destroy();
    else {
      this.#kept = socket;
      this.#before = input;
    }
    // A request that could not be parsed has no method: to the daemon it was no HEAD.
    const isExplained = answer.status === 101 || (method === 'HEAD' && answer.status === 400 && closes);
    const more = rest.length > 0 && !isExplained ? `more than one answer: ${rest}` : null;
    return { answered: [answer.status], fault: faultOf(answer, method) ?? more };
  }

  /**
   * Sends, ends its side, and reads to the end: whatever comes must be answers, and it must come to an end. Node closes a connection
   * whose client has ended without the answers that are not ready then; by that time it may have sent the interim answer to `Expect`.
   * So does ws with a stream that is not open then: a client of frames ends its side after the answer.
   */
  async #throwAway({ kind }: Input, bytes: Buffer): Promise<Outcome> {
    const socket = this.#open();
    if (kind === 'frames') socket.once('data', () => socket.end());
    const { received, ended } = await exchange(socket, bytes, null, kind !== 'frames');
    socket.destroy();
    if (ended === 'stuck') return { answered: [], fault: 'the connection does not end', stuck: true };
    const answered: number[] = [];
    for (let left = withoutInterim(received); left.length > 0; ) {
      const found = nextAnswer(left, bytes);
      if (!found) return { answered, fault: `half an answer: ${JSON.stringify(left.toString('latin1'))}` };
      const fault = faultOf(found.answer, found.answer.body.length ? 'GET' : 'HEAD');
      if (fault) return { answered, fault };
      answered.push(found.answer.status);
      if (found.answer.status === 101) break;
      left = withoutInterim(found.rest);
    }
    const refused = kind === 'frames' && answered[0] !== 101;
    return { answered, fault: refused ? `the stream was refused: ${received}` : null };
  }

  #open(): Socket {
    const { hostname, port } = new URL(this.#target.url);
    // The exchange reports an error; one that comes between two exchanges shows in the next.
    return connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {});
  }
}

/** A HEAD request is answered without the body that is announced. */
function nextAnswer(left: Buffer, sent: Buffer): ReturnType<typeof firstAnswer> {
  const bare = sent.includes('HEAD ') ? firstAnswer(left, 'HEAD') : null;
  const isBare = bare && (bare.rest.length === 0 || bare.rest.subarray(0, 5).toString() === 'HTTP/');
  return isBare ? bare : firstAnswer(left, 'GET');
}

interface Exchanged {
  readonly received: Buffer;
  /** Why nothing more will come; null where the connection is still good. */
  readonly ended: string | null;
}

/**
 * Sends; resolves at the first whole answer to `method`, or with `null` when the other side ends. `isEnding`: with `null`, this side
 * ends with what it sends.
 */
function exchange(socket: Socket, bytes: Buffer, method: string | null, isEnding = true): Promise<Exchanged> {
  return new Promise(resolve => {
    const pieces: Buffer[] = [];
    const take = (piece: Buffer) => {
      pieces.push(piece);
      if (method !== null && firstAnswer(Buffer.concat(pieces), method)) finish(null);
    };
    const end = () => finish('ended');
    const fail = (error: Error) => finish(error.message);
    const finish = (ended: string | null) => {
      clearTimeout(timer);
      socket.off('data', take).off('end', end).off('close', end).off('error', fail);
      resolve({ received: Buffer.concat(pieces), ended });
    };
    const timer = setTimeout(() => finish('stuck'), STUCK_MS);
    socket.on('data', take).on('end', end).on('close', end).on('error', fail);
    if (method === null && isEnding) socket.end(bytes);
    else socket.write(bytes);
  });
}
