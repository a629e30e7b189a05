/** A proxy that holds a request before it is passed on, or its response before the client gets it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Which request is held: by its method and URL. */
export type Chooses = (method: string, url: URL) => boolean;

interface Hold {
  readonly chooses: Chooses;
  readonly when: 'before' | 'after';
  readonly reached: () => void;
}

export class HoldingProxy {
  readonly url: string;
  readonly #onward: URL;
  readonly #server: Server;
  #hold: Hold | null = null;

  private constructor(server: Server, onward: string) {
    const { address, port } = server.address() as AddressInfo;
    this.url = `http://${address}:${port}`;
    this.#onward = new URL(onward);
    this.#server = server;
    server.on('request', (incoming, answer) => this.#pass(incoming, answer));
  }

  /** `onward`: the URL of the server behind it. `host`: the address on which it listens. */
  static async start(onward: string, host = '127.0.0.1'): Promise<HoldingProxy> {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    return new HoldingProxy(server, onward);
  }

  /**
   * Holds the next request that is chosen until its client goes away: `before` it is passed on, or `after` the server has answered it.
   * Resolves when it is held.
   */
  hold(when: Hold['when'], chooses: Chooses): Promise<void> {
    return new Promise(resolve => {
      this.#hold = { chooses, when, reached: resolve };
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const chosen = this.#hold?.chooses(incoming.method!, new URL(incoming.url!, this.url)) ? this.#hold : null;
    if (chosen) this.#hold = null;
    incoming.on('error', () => {});
    if (chosen?.when === 'before') {
      chosen.reached();
      return;
    }
    // The proxy has answered 100 itself. The header Host stays: the signature covers it.
    const { expect: _, ...headers } = incoming.headers;
    const { hostname, port } = this.#onward;
    const outgoing = request({ hostname, port, path: incoming.url!, method: incoming.method!, headers }, reply => {
      if (chosen) {
        reply.resume().on('end', chosen.reached);
        return;
      }
      answer.writeHead(reply.statusCode!, reply.headers);
      reply.on('error', () => answer.destroy());
      reply.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => answer.writableFinished || outgoing.destroy());
    incoming.pipe(outgoing);
  }
}
