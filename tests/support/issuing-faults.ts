/** Faults while a key is issued, at a step that is chosen: the command line or the daemon is killed, the key is pulled. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answering, json } from './http-servers.ts';
import type { Kind } from './issuing-providers.ts';

/** The part that is killed or pulled. */
export type Victim = 'command' | 'daemon' | 'key';

/**
 * The request that changes something and at which it happens: by its number, or by its kind at a provider; before it is carried
 * out, or before it is answered.
 */
export interface Fault {
  readonly victim: Victim;
  readonly at: number | Kind;
  readonly when: 'before' | 'after';
}

/** The target of a gate. */
export type Strike = Readonly<Record<Victim, () => Promise<void>>>;

/** Stands before the registry and the station of one command. */
export class Gate {
  readonly #strike: Strike;
  #fault: Fault | null = null;
  #writes = 0;
  #isCut = false;
  #striking: Promise<void> = Promise.resolve();
  registry = '';
  station = '';

  private constructor(strike: Strike) {
    this.#strike = strike;
  }

  /** `registry` and `station`: their addresses at the moment. */
  static async open(registry: () => string, station: () => string, strike: Strike): Promise<Gate> {
    const gate = new Gate(strike);
    const passing = (onward: () => string) => (request: IncomingMessage, response: ServerResponse) =>
      void gate.#pass(onward, request, response);
    gate.registry = (await answering(passing(registry))).url;
    gate.station = (await answering(passing(station))).url;
    return gate;
  }

  /** For the next command. */
  arm(fault: Fault | null): void {
    this.#fault = fault;
    this.#writes = 0;
    this.#isCut = false;
  }

  /** Resolves when the daemon runs again, and the key is plugged in. */
  async settled(): Promise<void> {
    await this.#striking;
  }

  /** Of a request at a provider. */
  async atProvider(kind: Kind, when: Fault['when']): Promise<void> {
    await this.#happens(kind, when);
  }

  async #happens(at: Fault['at'], when: Fault['when']): Promise<boolean> {
    const fault = this.#fault;
    if (fault?.at !== at || fault.when !== when) return false;
    this.#fault = null;
    if (fault.victim === 'command') this.#isCut = true;
    this.#striking = this.#strike[fault.victim]();
    await this.#striking;
    return true;
  }

  async #pass(onward: () => string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const step = request.method === 'GET' ? 0 : ++this.#writes;
    // A command that is killed sends nothing more. One that shares its process ends at the refusal.
    const cut = () => void response.writeHead(403, json).end('{"code":2007,"message":"killed","data":null}');
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    await this.#happens(step, 'before');
    if (this.#isCut) return cut();
    const body = parts.length > 0 ? Buffer.concat(parts) : null;
    const passed = { method: request.method!, headers: headers as Record<string, string>, body };
    const answer = await fetch(onward() + request.url, passed).catch(() => null);
    const text = await answer?.arrayBuffer().catch(() => null);
    const isLost = await this.#happens(step, 'after');
    if (this.#isCut) return cut();
    if (isLost || !answer || !text) return void response.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(Buffer.from(text));
  }
}
