export { exchange, succeeded } from '../exchange.ts';
export { fromHex, toHex } from '../hex.ts';
export type { Connection } from './connection.ts';
export { type CardFacts, type CardIdentity, IDENTIFIERS, type Identifier, identify } from './identify.ts';
export { checkedSerial } from './serial.ts';
