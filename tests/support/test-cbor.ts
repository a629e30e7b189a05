/** CBOR as authenticators of the tests write it; the readers of the program are tested with bytes of others (tests/proof). */
import { type CborInput, writeCbor as write } from '../../drivers/protocols/cbor-write.ts';

export type { CborInput };

export const writeCbor = (value: CborInput): Buffer => Buffer.from(write(value));
