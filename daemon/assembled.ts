import type { FastifyInstance } from 'fastify';
import type { AttachedKeys } from './hardware/attached-keys.ts';
import type { Hub } from './notifications/hub.ts';
import type { Readiness } from './services/readiness.ts';
import type { Tokens } from './services/tokens.ts';

/** The parts of a daemon of any role, connected, before it listens. */
export interface Assembled {
  readonly app: FastifyInstance;
  readonly hub: Hub;
  readonly keys: AttachedKeys;
  readonly logins: Tokens;
  readonly readiness: Readiness;
  /** The first administrator's password if this start has generated it, else null. */
  readonly firstAdmin: Promise<string | null>;
  /** Reads keys that were replaced while the daemon runs. Only with `takeNext` the waiting key of the journal replaces the current one. */
  readonly renewKeys: (takeNext: boolean) => Promise<void>;
}
