/** Reads the serial of a card: tries the serial sources of cards in their order. */
import { HardwareError } from '../hardware-error.ts';
import { CLA, commandApdu, INS, query } from './apdu.ts';
import type { CardConnection } from './connection.ts';
import { readCplc } from './cplc.ts';
import { readEid } from './eid.ts';
import { identifyFidoCard } from './fido-card.ts';
import { toHex } from './hex.ts';
import { readIccid } from './iccid.ts';
import type { CardIdentity } from './key-view.ts';
import { readOpenPgp } from './openpgp.ts';
import { checkedSerial } from './serial.ts';

/** Known facts about a card before the first command. */
interface CardContext {
  readonly contactless: boolean;
  /** AIDs of the applications that may report an EID, in hex, in the order of trying. Default: the standard one. */
  readonly euiccApplications?: readonly string[];
}

type CardReport = Pick<CardIdentity, 'model' | 'serialNumber'> & Partial<CardIdentity>;

/** One way to read the serial of a card. */
export interface CardSerialSource {
  readonly name: string;
  /** Default: the source applies to every card. */
  readonly applies?: (context: CardContext) => boolean;
  /**
   * Null if the card is not of that kind; one without a serial number ends the search. Fails with a HardwareError: `protocol` if the card's
   * answer is not valid.
   */
  readonly read: (card: CardConnection, signal: AbortSignal, context: CardContext) => Promise<CardReport | null>;
}

/** The sources in their order: the first that has a serial decides. */
export const CARD_SERIAL_SOURCES: readonly CardSerialSource[] = [
  {
    name: 'iccid',
    read: async (card, signal) => {
      const iccid = await readIccid(card, signal);
      if (iccid === null) return null;
      const remark = iccid.checked ? null : `the check digit of ICCID ${iccid.digits} is wrong`;
      return { serialNumber: iccid.digits, model: iccid.model, remark };
    },
  },
  {
    name: 'eid',
    read: async (card, signal, context) => {
      const eid = await readEid(card, signal, context.euiccApplications);
      return eid === null ? null : { serialNumber: eid, model: 'eUICC' };
    },
  },
  {
    // Before numbers of chips and of contacts: the key is known by what it reports over USB too.
    name: 'fido',
    read: identifyFidoCard,
  },
  {
    name: 'cplc',
    read: async (card, signal) => {
      const cplc = await readCplc(card, signal);
      return cplc && { serialNumber: cplc.serial, manufacturer: cplc.fabricator, model: 'GlobalPlatform card' };
    },
  },
  {
    name: 'openpgp',
    read: async (card, signal) => {
      const pgp = await readOpenPgp(card, signal);
      return pgp && { serialNumber: pgp.serial, manufacturer: pgp.maker, model: `OpenPGP card ${pgp.version}` };
    },
  },
  {
    name: 'uid',
    applies: context => context.contactless,
    read: async (card, signal) => {
      const uid = await query(card, GET_UID, signal);
      return uid && { serialNumber: parseUid(uid), model: 'contactless card' };
    },
  },
];

/** The reader answers this command for the card (PC/SC part 3, 3.2.2.1.3). */
const GET_UID = commandApdu({ cla: CLA.READER, ins: INS.GET_DATA, le: 0 });
/** Single, double and triple size of ISO/IEC 14443-3, and 8 bytes of ISO/IEC 15693. */
const UID_BYTES: readonly number[] = [4, 7, 8, 10];
/** First byte of a 4-byte UID that the card draws at random. */
const RANDOM_UID = 0x08;

/** The UID of a contactless card in hex. Throws HardwareError `protocol` for an impossible length and for a random UID. */
export function parseUid(data: Uint8Array): string {
  if (!UID_BYTES.includes(data.length)) {
    throw new HardwareError('protocol', `the UID has ${data.length} bytes, which is not a valid length`);
  }
  if (data.length === 4 && data[0] === RANDOM_UID) {
    throw new HardwareError('protocol', 'the UID is random at each tap and does not identify the card');
  }
  return checkedSerial(toHex(data), 'UID');
}

const UNKNOWN = {
  deviceType: 'SIMKEY',
  manufacturer: null,
  model: null,
  firmwareVersion: null,
  remark: null,
  problem: null,
} as const;

/**
 * Identifies a card. If one source is refused or its answer is not valid, the next is tried. A command that could not be
 * transmitted at all (card removed, silent or held by another program) ends it: rejects with that HardwareError.
 */
export async function identifyCard(
  card: CardConnection,
  context: CardContext,
  signal: AbortSignal,
  sources: readonly CardSerialSource[] = CARD_SERIAL_SOURCES,
): Promise<CardIdentity> {
  const failures: string[] = [];
  const connection = new FailureDetector(card);
  for (const { name, applies, read } of sources) {
    if (applies?.(context) === false) continue;
    try {
      const report = await read(connection, signal, context);
      if (report !== null) return { ...UNKNOWN, serialSource: name, ...report };
    } catch (error) {
      const invalidAnswer = error instanceof HardwareError && error.code === 'protocol' && !connection.failed;
      if (!invalidAnswer) throw error;
      failures.push(error.message);
    }
  }
  return { ...UNKNOWN, serialNumber: null, serialSource: null, problem: noSerial(failures) };
}

/** A connection that remembers whether it ever failed to transmit. */
class FailureDetector implements CardConnection {
  failed = false;
  readonly #card: CardConnection;

  constructor(card: CardConnection) {
    this.#card = card;
  }

  async transmit(apdu: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    try {
      return await this.#card.transmit(apdu, signal);
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }
}

function noSerial(failures: readonly string[]): string {
  const why = failures.length > 0 ? failures.join('; ') : 'the card answers none of the commands that read a serial';
  return `No serial could be read: ${why}. Register the card by hand with the number printed on it.`;
}
