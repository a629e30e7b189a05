/** The daemon as a service of one user: what each system wants to have written where, and what has to be told to it. */

/** Stands in everything that is written here; what lacks it belongs to somebody else and is left alone. */
export const marker = 'Written by "devmgr daemon install"; "devmgr daemon uninstall" removes it.';

export interface ServiceFacts {
  /** The program and its arguments, up to and with those of `daemon run` or `daemon start`. */
  readonly program: readonly string[];
  /** Arguments of the daemon after its verb. */
  readonly args: readonly string[];
  readonly home: string;
  readonly userHome: string;
  readonly userId: number;
  /** As Windows writes it: DOMAIN\name. Only looked at there. */
  readonly userName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type Step = readonly [program: string, ...args: string[]];

export interface Service {
  /** What the system calls such a thing. */
  readonly system: string;
  /** False where it was written by the documentation of the system and never run there. */
  readonly tested: boolean;
  readonly file: string;
  readonly text: string;
  readonly encoding: 'utf8' | 'utf16le';
  /** Put it into force and start it; a service that runs is started anew. */
  readonly start: readonly Step[];
  /** End it and have it no longer started; before the file is removed. */
  readonly stop: readonly Step[];
  /** After the file has been removed. */
  readonly forget: readonly Step[];
  /** Tells whether the system can be spoken to at all; a failure says why not. */
  readonly probe: Step;
  /** What to do where it cannot. */
  readonly later: string;
  /** Where its log goes. */
  readonly log: string;
}
