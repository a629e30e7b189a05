import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fromHex, toHex } from '../../drivers/simkey/bytes.ts';
import type { CardProgram } from './vcard-programs.ts';

export * from './vcard-programs.ts';

/** A card in a virtual reader. */
export interface VirtualCard {
  /** The commands it got so far, hex. */
  readonly commands: readonly string[];
  /** Resolves as soon as a command that begins with these hex digits has come; at once if it has. */
  seen(prefix: string): Promise<void>;
  /** Pulls the card. Idempotent. */
  remove(): Promise<void>;
}

const POWER_OFF = 0;
const POWER_ON = 1;
const RESET = 2;
const GET_ATR = 4;

/**
 * Puts a card into the virtual reader that listens on `port` of this machine. Resolves when the reader has taken notice
 * of it. The virtual reader sends frames of a length (2 bytes, big-endian) and that many bytes; one byte is a control.
 */
export async function plugCard(program: CardProgram, port: number): Promise<VirtualCard> {
  const socket = connect(port, '127.0.0.1');
  const commands: string[] = [];
  const waiting = new Set<() => void>();
  const noticed = Promise.withResolvers<void>();
  const closed = once(socket, 'close').then(() => undefined);
  socket.on('error', error => noticed.reject(error));
  onFrames(socket, frame => {
    noticed.resolve();
    if (frame.length === 1) return control(socket, program, frame[0] ?? 0);
    commands.push(toHex(frame));
    for (const check of waiting) check();
    const answer = program.answer(frame);
    if (answer !== null) send(socket, answer);
  });
  await noticed.promise;
  return {
    commands,
    seen(prefix) {
      return new Promise(resolve => {
        const check = () => {
          if (!commands.some(command => command.startsWith(prefix))) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    },
    async remove() {
      socket.destroy();
      await closed;
    },
  };
}

function control(socket: Socket, program: CardProgram, what: number): void {
  if (what === GET_ATR) send(socket, program.atr);
  if ([POWER_OFF, POWER_ON, RESET].includes(what)) program.reset();
}

function send(socket: Socket, bytes: Uint8Array): void {
  if (socket.destroyed) return;
  socket.write(Uint8Array.of(bytes.length >> 8, bytes.length & 0xff));
  socket.write(bytes);
}

function onFrames(socket: Socket, take: (frame: Uint8Array) => void): void {
  let buffer = fromHex('');
  socket.on('data', (chunk: Buffer) => {
    buffer = new Uint8Array(Buffer.concat([buffer, chunk]));
    for (;;) {
      const end = 2 + (((buffer[0] ?? 0) << 8) | (buffer[1] ?? 0));
      if (buffer.length < 2 || buffer.length < end) return;
      const frame = buffer.slice(2, end);
      buffer = buffer.slice(end);
      take(frame);
    }
  });
}
