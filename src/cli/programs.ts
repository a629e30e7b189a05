/**
 * What the command line has the daemon's own programs do. `bin/devmgr.ts` fills this with functions that are loaded when
 * they are called: the command line itself knows the daemon by its interface alone.
 */

export interface DaemonRunOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly home: string;
  /** The log is NDJSON on standard output. */
  readonly json: boolean;
  readonly verbose: boolean;
  /** How many keys that exist in software alone are added. */
  readonly simulateKeys: number;
  /** Files; both or neither. */
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
  /** Plain HTTP on an address that is not loopback is wanted. */
  readonly insecureHttp: boolean;
  /** Networks of the proxies whose X-Forwarded-For is believed. */
  readonly trustProxy: readonly string[];
  /** Further names the daemon may be called by. */
  readonly allowHosts: readonly string[];
  /** Vendor or vendor:product ids (hex) of further USB keys. */
  readonly ukeyMatch: readonly string[];
}

/** What a program of the daemon may use of the process it runs in. */
export interface ProgramIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
}

interface HomeOptions {
  readonly home: string;
  readonly json: boolean;
}

interface FileOptions extends HomeOptions {
  readonly file: string;
}

interface ResetOptions extends HomeOptions {
  readonly username: string;
}

export interface AuditOptions extends HomeOptions {
  /** Only entries of this device (its deviceId or its serial number). */
  readonly device: string | null;
  /** Only entries after this event id. */
  readonly since: number | null;
  /** Only the last so many. */
  readonly limit: number | null;
  /** Check the chain of the journal and say whether it is whole. */
  readonly verify: boolean;
  /** Only what this user did. */
  readonly user: string | null;
  /** Only entries of these types; null is all. */
  readonly types: readonly string[] | null;
  /** Milliseconds since 1970, both inclusive. */
  readonly from: number | null;
  readonly to: number | null;
  readonly csv: boolean;
}

/** Each resolves to the exit code of the process. */
export interface Programs {
  /** Resolves when the daemon has ended. It takes SIGTERM and SIGINT itself. */
  run(options: DaemonRunOptions, io: ProgramIo): Promise<number>;
  /** Copies the registry to a file, also while a daemon runs. */
  backup(options: FileOptions, io: ProgramIo): Promise<number>;
  /** Puts a copy back; refuses while a daemon runs. */
  restore(options: FileOptions, io: ProgramIo): Promise<number>;
  /** Checks the registry on disk. */
  check(options: HomeOptions, io: ProgramIo): Promise<number>;
  /** Writes the journal. */
  audit(options: AuditOptions, io: ProgramIo): Promise<number>;
  /** Makes a new signing key. Tokens given so far stay good until they expire. */
  rotateKey(options: HomeOptions, io: ProgramIo): Promise<number>;
  /** Makes a new password for a user and writes it on standard output; refuses while a daemon runs. */
  resetPassword(options: ResetOptions, io: ProgramIo): Promise<number>;
}
