export { fromHex, toHex } from './bytes.ts';
export type { Connection } from './connection.ts';
export { exchange, succeeded } from './exchange.ts';
export { type CardFacts, type CardIdentity, IDENTIFIERS, type Identifier, identify } from './identify.ts';
export { checkedSerial } from './serial.ts';
