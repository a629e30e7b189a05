/** Contribution of a subject to a daemon with a registry: services, the operations that they carry out, and figures. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from '../base/logger.ts';
import type { ShutdownStack } from '../base/shutdown.ts';
import type { Home } from '../home/home.ts';
import type { Instance } from '../home/instance.ts';
import type { DaemonSettings } from '../home/settings.ts';
import type { AccessJournal } from '../requests/access-journal.ts';
import type { Blobs } from '../requests/blobs.ts';
import type { Store } from '../store/store.ts';
import type { Bindings } from './bindings.ts';
import type { ErrorForm } from './error-form.ts';

/**
 * Services that a subject offers to others: each adds its own to this type, as an optional one if a daemon can do without the subject.
 * While a subject starts, services of later subjects do not exist yet: read them when they are needed.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the subjects add to it
export interface Offers {}

/** Dependencies of a subject. */
export interface SubjectStart {
  readonly settings: DaemonSettings;
  readonly log: Logger;
  readonly home: Home;
  /** Parts that are stopped with the daemon. */
  readonly stack: ShutdownStack;
  readonly store: Store;
  readonly blobs: Blobs;
  /** Takes entries of sign-ins, refusals and downloads. */
  readonly access: AccessJournal;
  readonly instance: Instance;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly offers: Offers;
}

/** Figures of the metrics. */
export type Gauges = Readonly<Record<string, { readonly help: string; readonly value: number }>>;

/** A subject that has started. */
export interface StartedSubject {
  readonly operations?: Bindings;
  /** Routes beside those of the contract, and the form of their errors. */
  readonly routes?: (app: FastifyInstance) => void | Promise<void>;
  readonly errors?: ErrorForm;
  readonly gauges?: () => Promise<Gauges>;
}

/** Starts a subject. Background work begins at once. */
export type StartSubject = (start: SubjectStart) => StartedSubject | Promise<StartedSubject>;
