/**
 * The order in which requests begin. A connection has one request under way: further ones that a client sends without waiting (pipelining)
 * begin after the response before them, each in a later turn of the event loop. When the requests of one turn have taken their time, those
 * after them wait for the next one. So each connection gets one request at a time, whatever others send.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectionArrived, makesWay } from '../base/concurrency.ts';

/** Milliseconds that the requests of one turn of the event loop may take before others wait for the next one. */
const TURN_MS = 20;
/** Most requests that wait for the response before them, of all connections: 40 MB. A connection that adds another is closed. */
const MOST_WAITING = 10_000;

/** A request that waits for its turn on a connection. */
interface TurnJob {
  readonly begin: () => void;
  /** Null for the last thing that happens on a connection: an upgrade, or the answer to what is not HTTP. */
  readonly response: ServerResponse | null;
  /** Begins in the turn in which it arrives. */
  readonly isUrgent: boolean;
}

interface Line {
  readonly socket: Socket;
  /** The line that began last. */
  current: TurnJob;
  /** Null while no request has arrived before the response to the one before it. */
  waiting: TurnJob[] | null;
  /** Whether its last job is `current` or waits: nothing more is read as HTTP. */
  isLast: boolean;
}

const hasEnded = ({ response }: TurnJob): boolean =>
  response !== null && (response.writableFinished || response.destroyed);

/**
 * Reads a connection again that was paused while requests of it waited. Node stops the socket's handle with the pause; when it gives
 * the connection away (an upgrade, a tunnel), it removes what would start the handle again. So `resume` alone waits for data that no one
 * reads: the empty chunk ends that wait, and the stream asks the handle again.
 */
export function readAgain(socket: Socket): void {
  socket.push('');
  socket.resume();
}

/** Begins the requests of a server in turn. */
export class RequestTurns {
  readonly #lines = new WeakMap<Socket, Line>();
  /** Requests whose connection is free, in the order in which they came. */
  #ready: { readonly line: Line; readonly job: TurnJob }[] = [];
  #waiting = 0;
  readonly #mostWaiting: number;
  /** When the first request of this turn of the event loop began; null before it. */
  #turnBegan: number | null = null;
  readonly #endTurn = () => {
    this.#turnBegan = null;
  };
  readonly #next = () => this.#beginNext();

  /** `isUrgent`: whether a request begins in the turn in which it arrives. */
  constructor(server: Server, isUrgent: (request: IncomingMessage) => boolean, mostWaiting = MOST_WAITING) {
    this.#mostWaiting = mostWaiting;
    const [listener] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
    if (!listener) throw new Error('the server has no listener of requests');
    server.off('request', listener);
    server.on('connection', connectionArrived);
    server.on('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#enter(request.socket, {
        begin: () => listener.call(server, request, response),
        response,
        isUrgent: isUrgent(request),
      }),
    );
  }

  /** Calls `begin` after the responses to all requests before it, at once if there are none. */
  answer(socket: Socket, response: ServerResponse, begin: () => void): void {
    this.#enter(socket, { begin, response, isUrgent: false });
  }

  /**
   * As `answer`, for what ends the requests of a connection: a second call for it does nothing. A request whose body has not arrived
   * whole will never have it: what comes last takes its place. `isAnswered`: the response to that request has begun, so another one
   * would be taken for part of it, or for that to a later request. `stream`: what Node passes on with an upgrade or a tunnel; it is not
   * the socket while their body arrives.
   */
  last(socket: Socket, begin: (isAnswered?: boolean) => void, stream: Duplex = socket): void {
    const line = this.#lines.get(socket);
    if (line?.isLast) return;
    // Node has removed its listener, and the responses before are still written: without one, a client that has gone ends the process.
    stream.on('error', () => socket.destroy());
    const before = line && (line.waiting?.at(-1) ?? line.current);
    const isCut = before?.response?.req.complete === false;
    if (line && before && isCut) {
      line.isLast = true;
      if (before === line.current) begin(before.response?.headersSent);
      else line.waiting![line.waiting!.length - 1] = { begin, response: null, isUrgent: true };
      return;
    }
    this.#enter(socket, { begin, response: null, isUrgent: true });
  }

  #enter(socket: Socket, job: TurnJob): void {
    const line = this.#lines.get(socket);
    if (!line) {
      const first = { socket, current: job, waiting: null, isLast: job.response === null };
      this.#lines.set(socket, first);
      this.#begin(first, job);
      return;
    }
    if (line.isLast) return;
    line.isLast = job.response === null;
    if (!line.waiting && hasEnded(line.current)) this.#begin(line, job);
    else this.#queue(line, job);
  }

  #queue(line: Line, job: TurnJob): void {
    const { socket } = line;
    if (!line.waiting) {
      line.waiting = [];
      this.#advanceAfter(line);
    }
    line.waiting.push(job);
    this.#waiting++;
    if (this.#waiting > this.#mostWaiting) socket.destroy();
    // Further data of the client stays in the buffers of the system.
    else if (!line.isLast) socket.pause();
  }

  #advanceAfter(line: Line): void {
    line.current.response?.once('close', () => this.#advance(line));
  }

  /** The response to the current request has ended. */
  #advance(line: Line): void {
    const { socket } = line;
    const waiting = line.waiting ?? [];
    const job = socket.writable ? waiting.shift() : undefined;
    this.#waiting -= job ? 1 : waiting.length;
    if (!job) line.waiting = null;
    // After each response, Node reads the connection again. Its end would be taken for that of the client, which still waits for responses.
    if (!line.isLast) socket[!job || (waiting.length === 0 && !job.response?.req.complete) ? 'resume' : 'pause']();
    if (!job) return;
    line.current = job;
    this.#advanceAfter(line);
    this.#later(line, job);
  }

  #begin(line: Line, job: TurnJob): void {
    line.current = job;
    if (job.isUrgent || (this.#ready.length === 0 && !makesWay() && !this.#isTurnOver())) job.begin();
    else this.#later(line, job);
  }

  #later(line: Line, job: TurnJob): void {
    this.#ready.push({ line, job });
    setImmediate(this.#next);
  }

  /** One for each immediate, so that what a request continues at once (microtasks) counts in its turn. */
  #beginNext(): void {
    if (makesWay() || this.#isTurnOver()) {
      setImmediate(this.#next);
      return;
    }
    const { line, job } = this.#ready.shift()!;
    if (!line.socket.destroyed) job.begin();
  }

  #isTurnOver(): boolean {
    const now = performance.now();
    if (this.#turnBegan !== null) return now - this.#turnBegan >= TURN_MS;
    this.#turnBegan = now;
    setImmediate(this.#endTurn);
    return false;
  }
}
