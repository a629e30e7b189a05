/** Flags and arguments as data, and those that several commands share. `program.ts` turns them into options of commander. */
import { paging } from '../../contract/limits.ts';
import { environment } from '../../contract/local.ts';
import type { DeviceStatus } from '../../contract/values.ts';
import { resultFormats } from '../terminal/output.ts';

/** Completions of a value. A `holder` has a device, a `user` can log in, a `key` is attached. */
export type Offer =
  | 'backup'
  | 'device'
  | 'file'
  | 'folder'
  | 'holder'
  | 'key'
  | 'manufacturer'
  | 'person'
  | 'profile'
  | 'server'
  | 'station'
  | 'token'
  | 'trusted'
  | 'user'
  | 'username'
  | 'version'
  | 'webhook'
  | 'provider';

/** A flag. Its name is its key among the flags of the command, without the dashes. */
export interface FlagShape {
  /** Name of the value in the help. A flag without one takes no value. */
  readonly value?: string;
  /** The flag can also be given without its value. */
  readonly optional?: true;
  readonly help: string;
  readonly short?: string;
  /** Other spellings that are accepted and not shown. */
  readonly aliases?: readonly string[];
  /** Can be repeated. With `true`, a comma separates values as well; with `whole`, it is a part of the value. */
  readonly many?: true | 'whole';
  /** An empty value has a meaning: it removes a setting, or means none. Otherwise it is refused: a variable may be unset. */
  readonly empty?: true;
  /** The value is a whole number within these bounds, both inclusive. */
  readonly whole?: { readonly min: number; readonly max?: number };
  /** The accepted values. Upper and lower case are the same. */
  readonly choices?: readonly string[];
  /** The value if the flag is absent; shown in the help. */
  readonly default?: string | number;
  /** Environment variable that is read if the flag is absent; an empty one counts as unset. */
  readonly env?: string;
  /** Flags that cannot be given together with this one. */
  readonly conflicts?: readonly string[];
  /** Flag without which this one has no meaning. */
  readonly needs?: string;
  /** Other flags get values from this one: if it is given, the command itself checks what they need. */
  readonly supplies?: true;
  /** Field of the request that the flag fills, if it has another name: errors of the server name the field. */
  readonly field?: string;
  readonly offer?: Offer;
  /** The value is `NAME=VALUE`, with the names and values of these flags. */
  readonly pairs?: FlagShapes;
}
/** Flags by name. */
export type FlagShapes = Readonly<Record<string, FlagShape>>;

/** An argument. */
export interface ArgShape {
  readonly name: string;
  readonly help: string;
  readonly optional?: true;
  /** Takes every further argument. The last one only. */
  readonly rest?: true;
  /** An empty value has a meaning; without this it is refused. */
  readonly empty?: true;
  readonly choices?: readonly string[];
  readonly offer?: Offer;
  /** The states of the devices that are offered; any if absent. */
  readonly states?: readonly DeviceStatus[];
}

type Camel<S extends string> = S extends `no-${infer Rest}`
  ? Camel<Rest>
  : S extends `${infer Head}-${infer Tail}`
    ? `${Head}${Capitalize<Camel<Tail>>}`
    : S;
type One<F> = F extends { readonly whole: object }
  ? number
  : F extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;
type FlagValue<F> = F extends { readonly optional: true }
  ? string | boolean | undefined
  : F extends { readonly value: string }
    ? F extends { readonly many: true | 'whole' }
      ? readonly One<F>[]
      : F extends { readonly default: string | number }
        ? One<F>
        : One<F> | undefined
    : boolean;
/** Values by camel-case name. `--no-color` is `color`, true unless the flag is given. */
export type FlagValues<F extends FlagShapes> = { readonly [K in keyof F & string as Camel<K>]: FlagValue<F[K]> };

/** Name of a flag in code: `--no-color` is `color`. */
export const camel = (flag: string): string =>
  flag.replace(/^no-/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Name of a flag for a name in code: `clientId` is `client-id`. */
export type Hyphens<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Uppercase<Head> ? `-${Lowercase<Head>}` : Head}${Hyphens<Tail>}`
  : '';
/** Implements the type `Hyphens`. */
export const hyphens = <const S extends string>(name: S) =>
  name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`) as Hyphens<S>;

/** Flags that every command takes. */
export const globalFlags = {
  server: {
    value: 'URL',
    offer: 'server',
    env: environment.server,
    help: 'address of the registry, or URL,URL if it has several; by default the daemon on this machine',
  },
  hardware: { value: 'URL', offer: 'server', help: 'address of the hardware service, if it is not the registry' },
  profile: { value: 'NAME', help: 'profile to use, with its settings and login', offer: 'profile' },
  home: { value: 'DIR', env: environment.home, help: 'folder for all data of this user', offer: 'folder' },
  ca: { value: 'FILE', help: 'certificates (PEM) to verify the server with', offer: 'file' },
  json: { help: 'write JSON: one document, or one line per result' },
  output: { value: 'FORMAT', short: 'o', choices: resultFormats, help: 'format of the result; --out names a file' },
  jq: { value: 'EXPR', help: 'filter the JSON with this jq expression' },
  fields: { value: 'NAMES', many: true, help: 'only these fields of the result, in this order' },
  quiet: { short: 'q', help: 'write only ids, one per line, and no notices' },
  verbose: { short: 'v', help: 'show the requests to the server' },
  'no-color': { aliases: ['no-colour'], help: 'write without colors' },
  'no-pager': { help: 'write long output to the terminal without a pager' },
  'no-input': { help: 'never prompt; fail if a value is missing' },
  'no-wait': { help: 'fail at once if the rate limit is reached' },
  'no-autostart': { help: 'do not start the local daemon' },
} as const satisfies FlagShapes;

/** Names of flags that would set the value of another flag, of the command or of all commands: `color` beside `no-color`. */
export type Clashing<F extends FlagShapes> = {
  [K in keyof F & string]: K extends keyof typeof globalFlags
    ? never
    : Camel<K> extends keyof GlobalValues
      ? K
      : K extends `no-${infer Positive}`
        ? Positive extends keyof F
          ? K
          : never
        : never;
}[keyof F & string];

/** The values of the global flags. */
export type GlobalValues = FlagValues<typeof globalFlags>;

/** Flag of commands that ask before they change something. */
export const yesFlag = {
  yes: { short: 'y', help: 'do not ask for confirmation' },
} as const satisfies FlagShapes;

/** A flag that names a file. */
export const fileFlag = <const Help extends string>(help: Help) => ({ value: 'FILE', offer: 'file', help }) as const;

/** Flags of commands that read a password. */
export const passwordFlags = {
  'password-stdin': { help: 'read the password from the first line of standard input', conflicts: ['password-file'] },
  'password-file': fileFlag('read the password from the first line of a file'),
} as const satisfies FlagShapes;

/** Flags of a list that is read page by page; `what` is what it lists. */
export const pageFlags = (what: string) =>
  ({
    page: { value: 'N', whole: { min: 1 }, help: 'page number, from 1' },
    limit: {
      value: 'N',
      short: 'n',
      aliases: ['size'],
      field: 'size',
      whole: { min: 1, max: paging.maxSize },
      help: `at most N ${what} on a page (default: ${paging.size})`,
    },
  }) as const satisfies FlagShapes;

/** Names a device by the key that is plugged in. */
export const pluggedFlag = {
  plugged: { help: 'use the device of the one attached key' },
} as const satisfies FlagShapes;
