import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Sink } from '../notifications/sink.ts';

/**
 * A WebSocket as the stream writes to it. Frames come ready made and go to the socket as they are: building the same frame
 * for ten thousand connections would be a third of the work. `ws` itself writes whole frames only (nothing is compressed),
 * so that its pings and ours cannot mix.
 */
export function streamSink(ws: WebSocket, socket: Socket): Sink {
  return {
    write(frames) {
      if (ws.readyState === ws.OPEN) socket.write(frames);
    },
    get full() {
      return ws.readyState !== ws.OPEN || socket.writableNeedDrain;
    },
    get waiting() {
      return socket.writableLength;
    },
    get taken() {
      return socket.bytesWritten - socket.writableLength;
    },
    ping: () => ws.ping(),
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
  };
}
