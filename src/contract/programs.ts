/**
 * The programs of the daemon that the command line runs in its own process, as types. `bin/devmgr.ts` joins the two sides with
 * functions that load the daemon when they are called.
 */

import type { GivenSettings } from './daemon-settings.ts';

/** Streams and state of the process that a program may use. */
export interface ProgramIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
}

/** Options of every program. */
interface HomeOptions {
  /** The home folder of the daemon. */
  readonly home: string;
  /** Output and errors as JSON; for `run` the log as NDJSON on standard output. */
  readonly json: boolean;
}

/** Where a program finds a registry. */
export interface RegistryOptions extends HomeOptions {
  /** URL of the database of the registry; null or absent takes it from the environment. */
  readonly store?: string | null | undefined;
  /** Folder of the keys; null or absent takes it from the environment. */
  readonly secrets?: string | null | undefined;
}

/** Options of `daemon run`. */
export interface RunOptions extends HomeOptions, GivenSettings {
  readonly verbose: boolean;
}

/** Options of `daemon init`. */
export interface InitOptions extends RegistryOptions {
  /** Create a registry with keys of its own even if the present ones belong to another registry: those are moved aside. */
  readonly newRegistry?: boolean;
}

/** Options of `daemon copy`. */
export interface CopyOptions extends HomeOptions {
  /** `sqlite:` for the file of the home, `sqlite:PATH` or `postgres:` */
  readonly from: string;
  readonly to: string;
  /** Where the files are, and where they go. With neither, they are left in place. */
  readonly filesFrom?: string | null | undefined;
  readonly filesTo?: string | null | undefined;
  /** Folder of the keys; null or absent takes it from the environment. */
  readonly secrets?: string | null | undefined;
}

/** Options of `daemon backup`. */
export interface BackupOptions extends RegistryOptions {
  /** The file to write; it must not exist. */
  readonly file: string;
  /** Recipients of age. With one or a passphrase, the file is encrypted. */
  readonly encryptTo?: readonly string[];
  /** File with the passphrase on its first line. Not together with recipients. */
  readonly passphraseFile?: string | null | undefined;
}

/** Where a program finds the files of a registry. */
interface FileOptions {
  /** `file:` or `s3:`; null or absent takes it from the environment. */
  readonly files?: string | null | undefined;
}

/** Options of `daemon check`. */
export interface CheckOptions extends RegistryOptions, FileOptions {}

/** Options of `daemon restore`. */
export interface RestoreOptions extends RegistryOptions, FileOptions {
  /** The backup to read. */
  readonly file: string;
  /** Restore it even if it is not proven who wrote it, and that no one changed it. By default it is refused. */
  readonly acceptUnverified?: boolean;
  /** File with identities of age, for an encrypted backup. */
  readonly identityFile?: string | null | undefined;
  /** File with the passphrase of an encrypted backup on its first line. */
  readonly passphraseFile?: string | null | undefined;
}

/** Options of `daemon rotate-key`. */
export interface RotateKeyOptions extends RegistryOptions {
  /** Revoke all earlier tokens at once. By default they stay valid until they expire. */
  readonly revokeNow?: boolean;
  /** Replace the key of the journal instead of the one that signs tokens. */
  readonly journal?: boolean;
}

/** Options of `daemon reset-password`. */
export interface ResetOptions extends RegistryOptions {
  readonly username: string;
}

/** A place in the journal: the id of an entry, or a time. */
export type JournalPlace = { readonly id: number } | { readonly time: Date };

/** Options of `daemon audit`: which entries of the journal to write. Null or absent does not filter. */
export interface AuditOptions extends RegistryOptions {
  /** Only entries of this device: its deviceId or its serial number. */
  readonly device: string | null;
  /** Only entries after this one, or at this time or later. */
  readonly since: JournalPlace | null;
  /** Only entries before this one, or before this time. */
  readonly until?: JournalPlace | null;
  /** Only so many: with `since` the first ones, else the last ones. */
  readonly limit: number | null;
  /** Verify the chain of the journal instead. */
  readonly verify: boolean;
  /** Print the head of the journal as ID:MAC; with `verify`, a head that the journal must contain. */
  readonly head?: string | boolean;
  /** Only what this user did. */
  readonly user?: string | null | undefined;
  /** Only entries of these types. */
  readonly types?: readonly string[] | null;
  readonly csv?: boolean;
}

/** Each program resolves to the exit code of the process and reports its errors itself. */
export interface Programs {
  /** Resolves when the daemon has stopped. It handles SIGTERM and SIGINT itself. */
  run(options: RunOptions, io: ProgramIo): Promise<number>;
  /** Moves a registry to another engine, and verifies it; refuses while a daemon uses one of them. */
  copy(options: CopyOptions, io: ProgramIo): Promise<number>;
  /** Creates a registry with its keys and the first administrator; changes nothing if it exists. */
  init(options: InitOptions, io: ProgramIo): Promise<number>;
  /** Copies the registry to a file, also while a daemon runs. */
  backup(options: BackupOptions, io: ProgramIo): Promise<number>;
  /** Puts a copy back; refuses while a daemon runs. */
  restore(options: RestoreOptions, io: ProgramIo): Promise<number>;
  /** Checks the registry on disk; exit code 1 if it is damaged. */
  check(options: CheckOptions, io: ProgramIo): Promise<number>;
  /** Writes the journal. */
  audit(options: AuditOptions, io: ProgramIo): Promise<number>;
  /** Creates a new signing key, or a new key of the journal. Tokens issued earlier stay valid until they expire, or are revoked at once. */
  rotateKey(options: RotateKeyOptions, io: ProgramIo): Promise<number>;
  /** Sets a random password for a user and writes it to standard output; refuses while a daemon runs. */
  resetPassword(options: ResetOptions, io: ProgramIo): Promise<number>;
}

/** Why a daemon did not start, where a program acts on it: `reason` of the JSON error in its log. */
export type StartFailure = 'PORT_IN_USE';
