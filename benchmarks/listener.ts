/** A WebSocket on a bare socket that counts what it is sent: ten thousand of them fit into one process. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const PING = 0x89;
const maskedPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** Connects; `text` is called with the length of each text frame that has arrived whole. Rejects where the upgrade is refused. */
export async function listen(url: string, path: string, text: (bytes: number) => void): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`refused: ${head}`);
  const take = frames(text, () => socket.write(maskedPong));
  take(head.subarray(head.indexOf('\r\n\r\n') + 4));
  socket.on('data', take);
  return socket;
}

/** Reads frames of a server, whose heads come in one piece with their first byte. */
function frames(text: (bytes: number) => void, ping: () => void): (chunk: Buffer) => void {
  let length = 0;
  let missing = 0;
  return chunk => {
    for (let at = 0; at < chunk.length; ) {
      if (missing === 0) {
        const short = chunk[at + 1]!;
        if (chunk[at] === PING) {
          ping();
          at += 2;
          continue;
        }
        length = short === 126 ? chunk.readUInt16BE(at + 2) : short;
        missing = length;
        at += short === 126 ? 4 : 2;
      }
      const taken = Math.min(missing, chunk.length - at);
      at += taken;
      missing -= taken;
      if (missing === 0) text(length);
    }
  };
}
