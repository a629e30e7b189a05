import { HardwareError } from '../../driver.ts';
import type { Connection } from './connection.ts';
import { readCplc } from './cplc.ts';
import { readEid } from './eid.ts';
import { readIccid } from './iccid.ts';
import { readOpenPgp } from './openpgp.ts';
import { readUid } from './uid.ts';

/** What is known of a card before a word was exchanged with it, and how to ask it. */
export interface CardFacts {
  readonly contactless: boolean;
  /** Applications to ask for an EID, hex, in this order; the standard one where absent. */
  readonly euiccApplications?: readonly string[];
}

export interface CardIdentity {
  /** Null where the card tells no serial; `problem` then says why and what to do. */
  readonly serialNumber: string | null;
  readonly serialSource: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly firmwareVersion: string | null;
  readonly problem: string | null;
  /** Worth a line in the log, no reason to refuse the card. */
  readonly remark: string | null;
}

interface Found {
  readonly serialNumber: string;
  readonly manufacturer?: string | null;
  readonly model: string;
  readonly firmwareVersion?: string | null;
  readonly remark?: string | null;
}

/** One way to learn a card's serial. `read`: null where the card is not of that kind, `protocol` where it answers wrongly. */
export interface Identifier {
  readonly source: string;
  readonly applies?: (facts: CardFacts) => boolean;
  readonly read: (connection: Connection, signal: AbortSignal, facts: CardFacts) => Promise<Found | null>;
}

/** The ways in their order: the first that answers gives the serial. */
export const IDENTIFIERS: readonly Identifier[] = [
  {
    source: 'iccid',
    read: async (connection, signal) => {
      const iccid = await readIccid(connection, signal);
      if (iccid === null) return null;
      const remark = iccid.checked ? null : `the check digit of ICCID ${iccid.digits} does not hold`;
      return { serialNumber: iccid.digits, model: iccid.model, remark };
    },
  },
  {
    source: 'eid',
    read: async (connection, signal, facts) => {
      const eid = await readEid(connection, signal, facts.euiccApplications);
      return eid === null ? null : { serialNumber: eid, model: 'eUICC' };
    },
  },
  {
    source: 'cplc',
    read: async (connection, signal) => {
      const cplc = await readCplc(connection, signal);
      return cplc === null
        ? null
        : { serialNumber: cplc.serial, manufacturer: cplc.fabricator, model: 'GlobalPlatform card' };
    },
  },
  {
    source: 'openpgp',
    read: async (connection, signal) => {
      const card = await readOpenPgp(connection, signal);
      return card === null
        ? null
        : { serialNumber: card.serial, manufacturer: card.maker, model: `OpenPGP card ${card.version}` };
    },
  },
  {
    source: 'uid',
    applies: facts => facts.contactless,
    read: async (connection, signal) => {
      const uid = await readUid(connection, signal);
      return uid === null ? null : { serialNumber: uid, model: 'contactless card' };
    },
  },
];

const UNKNOWN = { manufacturer: null, model: null, firmwareVersion: null, remark: null } as const;

/**
 * Finds out which card it is. A card that refuses or garbles one way is asked the next; a command that could not be
 * carried at all (card gone, silent, held by another program) ends it with the HardwareError that says so.
 */
export async function identify(
  connection: Connection,
  facts: CardFacts,
  signal: AbortSignal,
  identifiers: readonly Identifier[] = IDENTIFIERS,
): Promise<CardIdentity> {
  const complaints: string[] = [];
  const line = watched(connection);
  for (const { source, applies, read } of identifiers) {
    if (applies?.(facts) === false) continue;
    try {
      const found = await read(line, signal, facts);
      if (found !== null) return { ...UNKNOWN, ...found, serialSource: source, problem: null };
    } catch (error) {
      const garbled = error instanceof HardwareError && error.code === 'protocol' && !line.broken();
      if (!garbled) throw error;
      complaints.push(error.message);
    }
  }
  return { ...UNKNOWN, serialNumber: null, serialSource: null, problem: noSerial(complaints) };
}

/** The same connection, which remembers whether it ever failed to carry a command. */
function watched(connection: Connection): Connection & { broken(): boolean } {
  let broken = false;
  return {
    broken: () => broken,
    async transmit(apdu, signal) {
      try {
        return await connection.transmit(apdu, signal);
      } catch (error) {
        broken = true;
        throw error;
      }
    },
  };
}

function noSerial(complaints: readonly string[]): string {
  const why =
    complaints.length > 0 ? complaints.join('; ') : 'the card answers to none of the ways to ask for a serial';
  return `No serial could be read: ${why}. Register the card by hand with the number printed on it.`;
}
