/** A label printer in the network: a TCP server. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** The behavior of a printer on a connection; the first one is 0. */
export type Take = (socket: Socket, nth: number) => void;

/** A printer, and where it listens. */
export interface LabelPrinter {
  readonly address: string;
  readonly server: Server;
}

/** A printer that treats each connection as `take` does. */
export async function labelPrinter(take: Take, pauseOnConnect = false): Promise<LabelPrinter> {
  let connections = 0;
  const server = createServer({ pauseOnConnect, allowHalfOpen: true }, socket => {
    socket.on('error', () => undefined);
    take(socket, connections++);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** Reads labels, each to its end. */
export const reading =
  (labels: string[]) =>
  (socket: Socket): void => {
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    socket.on('end', () => {
      labels.push(text);
      socket.end();
    });
  };
