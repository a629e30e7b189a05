import { connect, type Socket } from 'node:net';
import { fromHex, toHex } from '../../drivers/protocols/hex.ts';
import type { CardProgram } from './vcard-programs.ts';

export * from './vcard-programs.ts';

/** A card in a virtual reader. */
export interface VirtualCard {
  /** The received commands, in hex. */
  readonly commands: readonly string[];
  /** Resolves when a command that begins with these hex digits has been received. */
  seen(prefix: string): Promise<void>;
  /** Resolves when the reader powers it down. */
  poweredDown(): Promise<void>;
  /** Removes the card. Idempotent. */
  remove(): Promise<void>;
}

const POWER_OFF = 0;
const POWER_ON = 1;
const RESET = 2;
const GET_ATR = 4;

/**
 * Inserts a card into the virtual reader that listens on `port` of this machine. Resolves when the reader has noticed it.
 * The virtual reader sends frames of a length (2 bytes, big-endian) and that many bytes; a single byte is a control.
 */
export async function plugCard(program: CardProgram, port: number): Promise<VirtualCard> {
  const socket = connect(port, '127.0.0.1');
  const commands: string[] = [];
  const waiting = new Set<() => void>();
  const noticed = Promise.withResolvers<void>();
  const closed = new Promise<void>(resolve => socket.on('close', () => resolve()));
  socket.on('error', error => noticed.reject(error));
  const unpowered = Promise.withResolvers<void>();
  const control = controlOf(socket, program, unpowered.resolve);
  onFrames(socket, frame => {
    noticed.resolve();
    if (frame.length === 1) return control(frame[0] ?? 0);
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
    poweredDown: () => unpowered.promise,
    async remove() {
      socket.destroy();
      await closed;
    },
  };
}

/** Longer than an ATR may be: the virtual reader fails to power a card with this answer. */
const NO_ATR = new Uint8Array(40);

/** Power and reset. The virtual reader asks for the ATR after powering, and at other times to check for a card. */
function controlOf(socket: Socket, program: CardProgram, onPowerOff: () => void): (what: number) => void {
  let justPowered = false;
  return what => {
    if (what === GET_ATR) send(socket, program.mute && justPowered ? NO_ATR : program.atr);
    justPowered = what === POWER_ON || what === RESET;
    if (justPowered || what === POWER_OFF) program.reset();
    if (what === POWER_OFF) onPowerOff();
  };
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
