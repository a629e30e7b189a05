export type { Connection } from './connection.ts';
export { type CardFacts, type CardIdentity, IDENTIFIERS, type Identifier, identify } from './identify.ts';
