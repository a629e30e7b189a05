import { HardwareError } from '../driver.ts';
import { concat } from './hex.ts';
import type { Connection } from './simkey/connection.ts';

/** What a command came to in the end: all data, without status bytes, and the last status word. */
export interface Answer {
  readonly data: Uint8Array;
  readonly status: number;
}

/** A card that always announces more must not keep us for ever. */
const MOST_ROUNDS = 64;

/** 9000, or 91xx: done, and the card has a command of its own waiting, which is none of our business. */
export function succeeded(answer: Answer): boolean {
  return answer.status === 0x9000 || answer.status >> 8 === 0x91;
}

/**
 * Sends one command and follows what T=0 cards answer instead of data: 61xx and 9Fxx (fetch xx bytes), 6Cxx (ask again
 * for xx bytes). A refusal by the card is an answer, not an error.
 */
export async function exchange(connection: Connection, apdu: Uint8Array, signal: AbortSignal): Promise<Answer> {
  const gathered: Uint8Array[] = [];
  let command = apdu;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { data, status } = split(await connection.transmit(command, signal));
    gathered.push(data);
    const next = followUp(command, status, gathered.length === 1);
    if (next === null) return { data: concat(...gathered), status };
    command = next;
  }
  throw new HardwareError('protocol', 'the card announces more data without end; try it again, or another reader');
}

function split(answer: Uint8Array): Answer {
  if (answer.length < 2) {
    throw new HardwareError('protocol', `the card answered ${answer.length} bytes where a status of 2 was due`);
  }
  const at = answer.length - 2;
  return { data: answer.slice(0, at), status: ((answer[at] ?? 0) << 8) | (answer[at + 1] ?? 0) };
}

/** The command that fetches the rest, or null where the status is final. */
function followUp(command: Uint8Array, status: number, first: boolean): Uint8Array | null {
  const [kind, amount] = [status >> 8, status & 0xff];
  const class_ = command[0] ?? 0;
  if (kind === 0x61 || (kind === 0x9f && class_ === 0xa0)) return Uint8Array.of(class_, 0xc0, 0, 0, amount);
  if (kind === 0x6c) return withLength(command, amount);
  // Some cards know GET RESPONSE in the inter-industry class alone, on the channel of the command.
  const refused = status === 0x6e00 || status === 0x6d00;
  if (refused && !first && command[1] === 0xc0 && (class_ & 0xfc) === 0x80) {
    return Uint8Array.of(class_ & 0x03, 0xc0, 0, 0, command[4] ?? 0);
  }
  return null;
}

/** The same command asking for `amount` bytes; null where it cannot ask for any, so that 6Cxx is its final status. */
function withLength(command: Uint8Array, amount: number): Uint8Array | null {
  if (command.length === 4) return concat(command, Uint8Array.of(amount));
  if (command.length === 5) return concat(command.subarray(0, 4), Uint8Array.of(amount));
  const end = 5 + (command[4] ?? 0);
  return command.length > end + 1 ? null : concat(command.subarray(0, end), Uint8Array.of(amount));
}
