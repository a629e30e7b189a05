import { hash } from 'node:crypto';

/** A row of the journal as it is stored: `data` and `detail` are JSON. */
export interface JournalRow {
  readonly id: number;
  readonly at: number;
  readonly type: string;
  readonly device: number | null;
  readonly subject: number | null;
  readonly actor: string | null;
  readonly request_id: string | null;
  readonly data: string;
  readonly detail: string;
}

/** Where the journal ends: the last entry and its code. */
export interface Head {
  readonly id: number;
  readonly mac: string;
}

/** Authenticates a text: HMAC-SHA256 in base64. */
export type Mac = (text: string) => string;

const blockBytes = 64;

/**
 * HMAC-SHA256 under the hex SHA-256 of `key`. The key of an HMAC is padded by XOR; that of 64 ASCII hex digits stays ASCII
 * and fills the block, so that both passes can go through `crypto.hash` with strings: 1.1 µs a row, `createHmac` takes 2.1.
 */
export function macWith(key: Uint8Array): Mac {
  const hex = hash('sha256', key, 'hex');
  const pad = (byte: number) => Buffer.from(hex, 'latin1').map(value => value ^ byte);
  const inner = Buffer.from(pad(0x36)).toString('latin1');
  const outer = Buffer.alloc(blockBytes + 32);
  outer.set(pad(0x5c));
  return text => {
    outer.write(hash('sha256', inner + text, 'hex'), blockBytes, 'hex');
    return hash('sha256', outer, 'base64');
  };
}

/** Code of an entry, given that of the one before. The lengths come first, so that no two rows read the same. */
export function entryMac(mac: Mac, before: string, row: JournalRow): string {
  const { actor, request_id: request } = row;
  return mac(
    `${before}${row.id},${row.at},${row.device ?? ''},${row.subject ?? ''},${row.type.length},${actor === null ? '' : actor.length},${
      request === null ? '' : request.length
    },${row.data.length}|${row.type}${actor ?? ''}${request ?? ''}${row.data}${row.detail}`,
  );
}

/** What a journal without entries ends with. */
export const noEntries: Head = { id: 0, mac: '' };

/** Seals the end, so that entries missing there are noticed too. */
export function sealOf(mac: Mac, head: Head): string {
  return mac(`head ${head.id} ${head.mac}`);
}
